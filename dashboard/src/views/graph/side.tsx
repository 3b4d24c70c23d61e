import { Link } from "wouter"
import type { Node } from "../../api/types"
import { BUCKETS, markOf, ORDER } from "../../parts/buckets"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { counted, lasting } from "../../parts/time"
import { usePicture } from "../../store/picture"

const MOST_PAIRS = 8

/** One card for each story, with a cell for each of its tasks. */
export function Stories({ nodes, open }: { nodes: Node[]; open: (story: string) => void }) {
  const stories = new Map<string, Node[]>()
  for (const node of nodes)
    if (node.story) stories.set(node.story, [...(stories.get(node.story) ?? []), node])
  if (stories.size < 2) return null
  return (
    <div className="stories" role="group" aria-label="Stories">
      {[...stories.entries()].map(([story, members]) => (
        <button key={story} type="button" className="st" onClick={() => open(story)}>
          <span className="row">
            <b className="med cut">
              <Inert text={story} max={60} links={false} />
            </b>
            <span className="sp" />
            <span className="dim t11 nw">
              {members.filter(node => node.bucket === "landed").length} of {members.length}
            </span>
          </span>
          <span className="cells" aria-hidden="true">
            {ORDER.map(bucket => {
              const count = members.filter(node => node.bucket === bucket).length
              return count ? <i key={bucket} className={`k-${bucket}`} style={{ flex: count }} /> : null
            })}
          </span>
        </button>
      ))}
    </div>
  )
}

function Selected({ name, critical }: { name: string; critical: string[] }) {
  const row = usePicture(state => state.tasks.get(name))
  const behind = critical.indexOf(name)
  if (!row) return null
  return (
    <section aria-label="Chosen task">
      <h2 className="row wrap">
        <Glyph mark={markOf(row)} />
        <span className="id">{name}</span>
        <span className="tag">{BUCKETS[row.bucket].title.toLowerCase()}</span>
      </h2>
      <p className="t12 mid">
        <Inert text={row.goal} max={300} />
      </p>
      <p className="t12">
        <Inert text={row.reason.text} max={300} />
      </p>
      {row.bucket !== "landed" && (
        <p className="t12 mid">
          {[
            behind >= 0 && behind < critical.length - 1
              ? `On the critical path: ${counted(critical.length - 1 - behind, "task")} behind it.`
              : "",
            (row.expected_seconds ?? 0) >= 1 ? `Takes about ${lasting(row.expected_seconds ?? 0)}.` : "",
          ].join(" ")}
        </p>
      )}
      <div className="row wrap">
        <Link
          className={row.bucket === "needs_you" ? "btn pri" : "btn"}
          href={`/tasks/${encodeURIComponent(name)}`}
          data-cli={`interlock show ${name}`}
        >
          {row.bucket === "needs_you" ? "Decide" : "Open"}
        </Link>
      </div>
      <Cli line={`interlock explain ${name}`} />
    </section>
  )
}

/** Changes under way that clash: the plan does not know that they hang together. */
function Overlaps() {
  const radar = usePicture(state => state.radar)
  const pairs = radar?.overlaps ?? []
  return (
    <section aria-label="May conflict">
      <h2>May conflict</h2>
      {pairs.length === 0 && <p className="t12 dim">No two changes under way conflict.</p>}
      {pairs.slice(0, MOST_PAIRS).map(pair => (
        <p key={`${pair.task} ${pair.other}`} className="t12">
          <Link className="id link" href={`/tasks/${encodeURIComponent(pair.task)}`}>
            {pair.task}
          </Link>{" "}
          <span className="mid">
            with {pair.other ?? "main"}:{" "}
            <Inert text={pair.paths.slice(0, 3).join(", ")} max={200} links={false} />
          </span>
        </p>
      ))}
      <Cli line="interlock radar" />
    </section>
  )
}

export function Side(props: { selected: string | null; alone: number; critical: string[] }) {
  const { selected, alone, critical } = props
  return (
    <aside className="side" aria-label="About the plan" tabIndex={0}>
      {selected !== null && <Selected name={selected} critical={critical} />}
      {alone > 0 && (
        <section>
          <p className="t12">
            {counted(alone, "more task is", "more tasks are")} under way. Nothing waits for them.
          </p>
        </section>
      )}
      <section aria-label="What if">
        <h2>What if</h2>
        <p className="t12 mid">How long the last run would have taken with other settings:</p>
        <Cli line="interlock what-if --max-parallel 8" />
      </section>
      <Overlaps />
    </aside>
  )
}
