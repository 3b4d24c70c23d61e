import type { EventsDocument, HealthDocument } from "../../api/types"
import { useRead } from "../../api/use-read"
import { Ago } from "../../parts/ago"
import { Cli } from "../../parts/command"
import { useCalmSeq } from "../../parts/every"
import { Inert } from "../../parts/inert"

const SHOWN = 14
const CALM_SECONDS = 1
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

interface Line {
  seq: number
  line: string
}

/** The newest facts of the log, where it stands and how large it is. */
export function Log({ health }: { health: HealthDocument }) {
  const seq = useCalmSeq(CALM_SECONDS)
  const after = Math.max(0, seq - SHOWN)
  const { data } = useRead<EventsDocument>(seq ? `/api/events?after=${after}&limit=${SHOWN}` : null, seq)
  const lines = ((data?.events ?? []) as unknown as Line[]).toReversed()
  return (
    <section className="card" aria-label="Log">
      <header>
        <h2>Log</h2>
        <span className="dim t12 cut">
          {health.facts.toLocaleString("en")} facts
          {health.log_bytes !== null && `, ${megabytes(health.log_bytes)}`}
          {health.facts > 0 && (
            <>
              , the last <Ago since={health.last_fact} /> ago
            </>
          )}
        </span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock events --follow" />
        </span>
      </header>
      {health.unknown && (
        <p className="pad t12 c-failed">
          A newer Interlock wrote a fact that this one must not go on without. <Cli line="interlock doctor" />
        </p>
      )}
      {health.facts === 0 && <p className="pad t12 mid">The log is empty: it begins with the first run.</p>}
      <div className="lg">
        {lines.map(each => (
          <div key={each.seq} title={`fact ${each.seq}`}>
            <Inert text={each.line} max={300} links={false} />
          </div>
        ))}
      </div>
    </section>
  )
}
