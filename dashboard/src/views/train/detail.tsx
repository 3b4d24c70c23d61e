import { useEffect, useState } from "react"
import { useLocation } from "wouter"
import { useAct } from "../../api/act"
import type { QueueCheck, QueueRow } from "../../api/types"
import { useKeys } from "../../frame/keys"
import { Ago } from "../../parts/ago"
import { Button, Outcome, WithText } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Explanation } from "../../parts/explain"
import { Inert } from "../../parts/inert"
import { counted, lasting, useNow } from "../../parts/time"
import { checkWords } from "./words"

function about(row: QueueRow): string {
  if (row.on.length > 0)
    return `Tested on top of ${row.on.join(", ")}, not on main yet. If one of them does not land, it is tested again without it.`
  return ""
}

function Holds({ row }: { row: QueueRow }) {
  if (row.holds === null) return null
  return <p className="t12 mid">Chance that this result counts: {Math.round(row.holds * 100)} %.</p>
}

const HUES: Record<string, string> = {
  passed: "c-landed",
  reused: "c-landed",
  running: "c-running",
  failed: "c-failed",
}

function CheckLine({ check }: { check: QueueCheck }) {
  const now = useNow()
  const { inputs, log } = check
  return (
    <tr>
      <td>
        <code>
          <Inert text={check.command} max={300} links={false} />
        </code>
      </td>
      <td className={HUES[check.state] ?? "dim"}>
        {check.state === "passed" ? `passed, ${checkWords(check, now)}` : checkWords(check, now) || "waits"}
      </td>
      <td className="dim">
        {check.state === "reused" && "unchanged: "}
        <Inert text={inputs.length ? inputs.join(", ") : "whole tree"} max={200} links={false} />
        {check.state === "reused" && log && (
          <div className="t11">
            from <Inert text={log} max={200} links={false} />
          </div>
        )}
      </td>
    </tr>
  )
}

function Figures({ row }: { row: QueueRow }) {
  const reused = row.checks.filter(check => check.state === "reused")
  const saved = reused.reduce((sum, check) => sum + (check.seconds ?? 0), 0)
  return (
    <dl className="kv">
      {row.tree && (
        <>
          <dt>tree</dt>
          <dd>
            <code>{row.tree.slice(0, 12)}</code>
          </dd>
        </>
      )}
      {row.base && (
        <>
          <dt>base</dt>
          <dd>
            <code>{row.base.slice(0, 12)}</code> of main{row.on.length > 0 && `, then ${row.on.join(", ")}`}
          </dd>
        </>
      )}
      {saved >= 1 && (
        <>
          <dt>saved</dt>
          <dd>
            {lasting(saved)} by {counted(reused.length, "reused check")}
          </dd>
        </>
      )}
      <dt>since</dt>
      <dd>
        <Ago since={row.since} />
      </dd>
    </dl>
  )
}

/** What can be done with a change: each button with its key and its command. */
function Actions({ row, onExplain }: { row: QueueRow; onExplain: () => void }) {
  const act = useAct()
  const [dropping, drop] = useState(false)
  const [, go] = useLocation()
  const { clear } = act
  const name = row.task
  useEffect(() => {
    drop(false)
    clear()
  }, [name, clear])
  const busy = act.state === "busy"
  const hold = row.held ? "release" : "hold"
  const change = () => void act.run(hold, { tasks: [name] })
  const bump = () => void act.run("bump", { task: name })
  const review = `/tasks/${encodeURIComponent(name)}?pane=diff`
  useKeys({
    h: change,
    b: bump,
    d: () => drop(true),
    e: onExplain,
    ...(row.state === "in-review" && { a: () => go(review) }),
    ...(dropping && { Escape: () => drop(false) }),
  })
  if (dropping)
    return (
      <WithText
        open
        optional
        about={
          <p className="t12">
            <span className="id">{name}</span> is cancelled: its change does not land. Its work is kept, and
            Retry starts it again.
          </p>
        }
        label={`Drop ${name}`}
        line={`interlock queue drop ${name} -m "..."`}
        placeholder="Why, for the log (may stay empty)"
        busy={busy}
        onClose={() => drop(false)}
        onSend={why => void act.run("drop", { tasks: [name], why })}
      />
    )
  return (
    <div className="deeds">
      {row.state === "in-review" && (
        <div>
          <Button kind="pri" line={`interlock review ${name}`} hotkey="a" onPress={() => go(review)}>
            Review
          </Button>
          <Cli line={`interlock review ${name}`} />
        </div>
      )}
      <div>
        <Button line={`interlock queue ${hold} ${name}`} hotkey="h" disabled={busy} onPress={change}>
          {row.held ? "Release" : "Hold"}
        </Button>
        <Cli line={`interlock queue ${hold} ${name}`} />
      </div>
      <div>
        <Button line={`interlock queue bump ${name}`} hotkey="b" disabled={busy} onPress={bump}>
          Bump
        </Button>
        <Cli line={`interlock queue bump ${name}`} />
      </div>
      <div>
        <Button
          kind="bad"
          line={`interlock queue drop ${name}`}
          hotkey="d"
          disabled={busy}
          onPress={() => drop(true)}
        >
          Drop
        </Button>
        <Cli line={`interlock queue drop ${name}`} />
      </div>
      <div>
        <Button kind="quiet" line={`interlock explain ${name}`} hotkey="e" onPress={onExplain}>
          Explain
        </Button>
        <Button
          kind="quiet"
          line={`interlock show ${name}`}
          hotkey="↵"
          onPress={() => go(`/tasks/${encodeURIComponent(name)}`)}
        >
          Open
        </Button>
      </div>
      <Outcome act={act} />
    </div>
  )
}

/** The selected change: what it is tested on, its checks, and what can be done. */
export function Detail({ row, inline = false }: { row: QueueRow; inline?: boolean }) {
  const [explained, explain] = useState(false)
  useEffect(() => explain(false), [row.task])
  const text = about(row)
  return (
    <section className={inline ? "inl" : "card"} aria-label="The selected change">
      {!inline && (
        <header>
          <h2 className="id cut">{row.task}</h2>
          <span className={`tag ${row.on.length ? "spec" : ""}`}>{row.state}</span>
        </header>
      )}
      <div className="pad stack">
        <p className="t12">
          <Inert text={row.reason.text} max={600} />
        </p>
        {text && (
          <p className="t12 mid">
            <Inert text={text} max={600} links={false} />
          </p>
        )}
        <Holds row={row} />
        {row.conflicts.length > 0 && (
          <p className="t12 c-failed">
            Conflicts in <Inert text={row.conflicts.slice(0, 6).join(", ")} max={400} links={false} />
            {row.conflicts.length > 6 && ` and ${row.conflicts.length - 6} more`}
          </p>
        )}
        {row.checks.length > 0 && (
          <table className="tbl lines">
            <thead>
              <tr>
                <th>check</th>
                <th>result</th>
                <th>inputs</th>
              </tr>
            </thead>
            <tbody>
              {row.checks.map(check => (
                <CheckLine key={check.command} check={check} />
              ))}
            </tbody>
          </table>
        )}
        <Figures row={row} />
        <Actions row={row} onExplain={() => explain(!explained)} />
        {explained && <Explanation task={row.task} version={row} />}
      </div>
    </section>
  )
}
