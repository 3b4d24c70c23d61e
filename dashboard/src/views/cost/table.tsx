import { useState } from "react"
import { Link } from "wouter"
import type { CostDocument, Usage } from "../../api/types"
import { markOf } from "../../parts/buckets"
import { Button } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { dollars, short } from "../../parts/time"
import { usePicture } from "../../store/picture"

export const GROUPS = ["agent", "task", "model", "category", "day", "story"] as const
export type Group = (typeof GROUPS)[number]

const SHOWN = 12
const unpriced = (usage: Usage) =>
  usage.unpriced_tokens ? `the price of ${short(usage.unpriced_tokens)} tokens is not known` : undefined
const tokensOf = (usage: Usage) => usage.input_tokens + usage.output_tokens

function TaskName({ name }: { name: string }) {
  const row = usePicture(state => state.tasks.get(name))
  return (
    <Link className="id link" href={`/tasks/${encodeURIComponent(name)}`} data-cli={`interlock show ${name}`}>
      {row && <Glyph mark={markOf(row)} />} {name}
    </Link>
  )
}

/** The usage of agents, tasks, models, kinds of work, days or stories, those that used most first. */
export function Table({
  cost,
  by,
  onGroup,
}: {
  cost: CostDocument
  by: Group
  onGroup: (by: Group) => void
}) {
  const [all, showAll] = useState(false)
  const rows = cost.by[by] ?? []
  const shown = all ? rows : rows.slice(0, SHOWN)
  const most = Math.max(1, ...rows.map(row => tokensOf(row.usage)))
  const money = cost.usage.cost_usd !== null
  const left = by === "task" ? cost.task_count - rows.length : 0
  return (
    <section className="card" aria-label={`By ${by}`}>
      <header>
        <h2>By {by}</h2>
        <span className="sp" />
        <span className="hide-n">
          <Cli line={`interlock cost --by ${by}`} />
        </span>
        <div className="seg">
          {GROUPS.map(each => (
            <button
              key={each}
              type="button"
              aria-pressed={each === by}
              data-cli={`interlock cost --by ${each}`}
              onClick={() => onGroup(each)}
            >
              {each}
            </button>
          ))}
        </div>
      </header>
      <table className="tbl used">
        <thead>
          <tr>
            <th>{by}</th>
            <th className="num">attempts</th>
            <th className="num hide-n">in</th>
            <th className="num hide-n">cached</th>
            <th className="num hide-n">out</th>
            <th className="num">tokens</th>
            {money && <th className="num">spent</th>}
            {money && <th className="num hide-n">per landing</th>}
            <th className="hide-n">
              <span className="vh">share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(row => (
            <tr key={row.name}>
              <td>
                {by === "task" ? (
                  <TaskName name={row.name} />
                ) : (
                  <span className={by === "day" ? "" : "id"}>
                    <Inert text={row.name || "unknown"} max={120} links={false} />
                  </span>
                )}
              </td>
              <td className="num">{row.attempts}</td>
              <td className="num hide-n">{short(row.usage.input_tokens)}</td>
              <td className="num dim hide-n">
                {row.usage.cached_tokens ? short(row.usage.cached_tokens) : ""}
              </td>
              <td className="num hide-n">{short(row.usage.output_tokens)}</td>
              <td className="num semi">{short(tokensOf(row.usage))}</td>
              {money && (
                <td className="num" title={unpriced(row.usage)}>
                  {row.usage.cost_usd === null ? "" : dollars(row.usage.cost_usd)}
                  {row.usage.unpriced_tokens > 0 && "?"}
                </td>
              )}
              {money && (
                <td className="num dim hide-n">
                  {row.usage.cost_usd !== null && row.landed > 0 && dollars(row.usage.cost_usd / row.landed)}
                </td>
              )}
              <td className="share hide-n">
                <span className="bar">
                  <i style={{ width: `${(tokensOf(row.usage) / most) * 100}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <Button kind="quiet" onPress={() => showAll(true)}>
          {rows.length - shown.length} more
        </Button>
      )}
      {left > 0 && shown.length === rows.length && (
        <p className="pad t12 dim">{left.toLocaleString("en")} tasks with fewer tokens are not listed.</p>
      )}
    </section>
  )
}
