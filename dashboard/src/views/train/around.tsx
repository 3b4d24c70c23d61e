import { Link } from "wouter"
import type { SentBack } from "../../api/types"
import { Ago } from "../../parts/ago"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { clock } from "../../parts/time"
import { usePicture } from "../../store/picture"

/** Where the task of a change that was sent back stands now. */
const NEXT: Record<string, string> = {
  running: "the next attempt is at work",
  waiting: "the next attempt waits",
  failed: "no attempt is left",
  cancelled: "dropped",
}

/** Changes that did not land, and why, the newest first. */
export function Dropped({ rows }: { rows: readonly SentBack[] }) {
  if (rows.length === 0) return null
  return (
    <section className="card" aria-label="Sent back">
      <header>
        <h2>Sent back</h2>
        <span className="dim t12 cut">with the reason as feedback for the next attempt</span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock queue" />
        </span>
      </header>
      {[...rows].reverse().map(row => (
        <Link
          key={row.task}
          className="drop"
          href={`/tasks/${encodeURIComponent(row.task)}`}
          data-cli={`interlock explain ${row.task}`}
        >
          <Glyph
            mark={row.state === "cancelled" ? "cancelled" : row.state === "failed" ? "failed" : "waiting"}
          />
          <span className="id cut">{row.task}</span>
          <span className="mid why">
            <Inert text={row.text} max={400} links={false} />
            <span className="dim">
              {" "}
              · attempt {row.attempt}, {NEXT[row.state] ?? row.state}
            </span>
          </span>
          <span className="dim nw">{clock(row.since)}</span>
        </Link>
      ))}
    </section>
  )
}

const SHOWN = 12

/** Changes under way that cannot be merged with each other, or with main, as they are now. */
export function Overlaps() {
  const radar = usePicture(state => state.radar)
  if (!radar || radar.tasks.length === 0 || !radar.policy) return null
  const { overlaps } = radar
  return (
    <section className="card" aria-label="Overlaps">
      <header>
        <h2>Overlaps</h2>
        <span className="dim t12 nw">of {radar.tasks.length} under way</span>
        <span className="sp" />
        <Cli line="interlock radar" />
      </header>
      {overlaps.length === 0 && <p className="pad t12 mid">No two changes under way conflict.</p>}
      {overlaps.slice(0, SHOWN).map(each => (
        <div key={`${each.task} ${each.other}`} className="lap">
          <Glyph mark="failed" />
          <span>
            <Link className="id link" href={`/tasks/${encodeURIComponent(each.task)}`}>
              {each.task}
            </Link>{" "}
            and{" "}
            {each.other ? (
              <Link className="id link" href={`/tasks/${encodeURIComponent(each.other)}`}>
                {each.other}
              </Link>
            ) : (
              "main"
            )}
          </span>
          <span className="dim nw">
            <Ago since={each.since} />
          </span>
          <span className="mid paths">
            <Inert text={each.paths.slice(0, 4).join(", ")} max={300} links={false} />
            {each.count > 4 && ` and ${each.count - 4} more`}
          </span>
        </div>
      ))}
      {overlaps.length > SHOWN && <p className="pad t12 dim">{overlaps.length - SHOWN} more.</p>}
    </section>
  )
}
