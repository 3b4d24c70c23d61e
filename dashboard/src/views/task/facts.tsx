import { useMemo, useState } from "react"
import { Link } from "wouter"
import type { CheckResult, TaskDocument, TaskRow } from "../../api/types"
import { markOf } from "../../parts/buckets"
import { Cli } from "../../parts/command"
import { Glyph, type Mark } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { clock, counted, dollars, lasting, short, useNow } from "../../parts/time"
import { usePicture } from "../../store/picture"

type Attempt = TaskDocument["attempts"][number]
type Phase = Attempt["phases"][number]

const MARKS: Record<string, Mark> = {
  passed: "landed",
  landed: "landed",
  done: "landed",
  running: "running",
  failed: "failed",
  asked: "needs",
  proposed: "needs",
  "in review": "needs",
}

function PhaseLine({ phase, now }: { phase: Phase; now: number }) {
  return (
    <div className="at">
      <Glyph mark={MARKS[phase.outcome] ?? "cancelled"} />
      <span className="med">{phase.phase}</span>
      <span className="dim nw">{lasting((phase.ended ?? now) - phase.started)}</span>
      <p>
        {clock(phase.started, now)}, {phase.outcome}
        {phase.text && ": "}
        <Inert text={phase.text} max={500} />
      </p>
    </div>
  )
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  const now = useNow()
  const [all, showAll] = useState(false)
  const shown = all ? attempts : attempts.slice(-2)
  return (
    <section aria-label="Attempts">
      <h2>
        Attempts <span className="dim">{attempts.length}</span>
      </h2>
      {attempts.length === 0 && <p className="dim t12">None yet.</p>}
      {[...shown].reverse().map(attempt => (
        <div key={attempt.attempt} className="attempt">
          <h3 className="t12 semi">Attempt {attempt.attempt}</h3>
          {attempt.phases[0]?.why && (
            <p className="dim t11">
              Why it started: <Inert text={attempt.phases[0].why} max={300} links={false} />
            </p>
          )}
          {attempt.phases.map(phase => (
            <PhaseLine key={`${phase.phase} ${phase.epoch}`} phase={phase} now={now} />
          ))}
        </div>
      ))}
      {shown.length < attempts.length && (
        <button type="button" className="btn quiet" onClick={() => showAll(true)}>
          {counted(attempts.length - shown.length, "earlier attempt")}
        </button>
      )}
    </section>
  )
}

function checkWords(check: CheckResult): string {
  const suite = check.suite
  const tests = suite
    ? `${suite.passed_count} passed${suite.failed_count ? `, ${suite.failed_count} failed` : ""}, `
    : ""
  if (check.reused) return "reused: its inputs are unchanged"
  if (check.timed_out) return `took too long: stopped after ${lasting(check.seconds)}`
  return `exit ${check.exit_code}, ${tests}${lasting(check.seconds)}`
}

function checkMark(check: CheckResult): Mark {
  if (check.exit_code !== 0 || check.timed_out) return "failed"
  return check.reused ? "reused" : "landed"
}

function Check({ check }: { check: CheckResult }) {
  const words = (
    <>
      <Glyph mark={checkMark(check)} />
      <code className="cut">
        <Inert text={check.command} max={400} links={false} />
      </code>
      <p>{checkWords(check)}</p>
    </>
  )
  if (!check.tail.trim()) return <div className="at">{words}</div>
  return (
    <details>
      <summary className="at">{words}</summary>
      <pre className="tail" tabIndex={0}>
        <Inert text={check.tail} max={8000} />
      </pre>
    </details>
  )
}

/** The checks that ran last, on whatever tree they ran. */
function Evidence({ row, attempts }: { row: TaskRow; attempts: Attempt[] }) {
  const phases = attempts.flatMap(attempt => attempt.phases)
  const phase = phases.findLast(each => each.checks.length > 0)
  return (
    <section aria-label="Evidence">
      <h2>
        Evidence {row.evidence && <span className="tag">{row.evidence.grade}</span>}
        {phase?.commit && <code className="dim">{phase.commit.slice(0, 8)}</code>}
      </h2>
      {phase ? (
        phase.checks.map(check => <Check key={check.command} check={check} />)
      ) : (
        <p className="dim t12">No check has run yet.</p>
      )}
      <Cli line={`interlock show ${row.id}`} />
    </section>
  )
}

function Files({ document }: { document: TaskDocument }) {
  const drift = document.drift as { surprises?: string[]; foreseen?: number; edited?: number } | null
  const footprint = (document.forecast.footprint ?? []) as { path: string; probability: number }[]
  if (!footprint.length && !drift) return null
  return (
    <section aria-label="Files">
      <h2>Files, foreseen and edited</h2>
      <dl className="kv">
        {drift && (
          <>
            <dt>foreseen</dt>
            <dd>
              {drift.foreseen} of {counted(drift.edited ?? 0, "edited file")}
            </dd>
            {drift.surprises && drift.surprises.length > 0 && (
              <>
                <dt>surprise</dt>
                <dd>
                  {drift.surprises.slice(0, 6).map(path => (
                    <code key={path} className="file-name">
                      <Inert text={path} max={200} links={false} />
                    </code>
                  ))}
                </dd>
              </>
            )}
          </>
        )}
        {!drift && (
          <>
            <dt>expected</dt>
            <dd>
              {footprint.slice(0, 6).map(each => (
                <code key={each.path} className="file-name">
                  <Inert text={each.path} max={200} links={false} /> {Math.round(each.probability * 100)} %
                </code>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Tokens({ row }: { row: TaskRow }) {
  const { usage } = row
  if (!usage.calls && !usage.input_tokens && usage.cost_usd === null) return null
  return (
    <section aria-label="Tokens">
      <h2>Tokens</h2>
      <dl className="kv">
        <dt>in</dt>
        <dd>
          {short(usage.input_tokens)}
          {usage.cached_tokens > 0 && `, ${short(usage.cached_tokens)} of them from a cache`}
        </dd>
        <dt>out</dt>
        <dd>{short(usage.output_tokens)}</dd>
        <dt>calls</dt>
        <dd>{usage.calls}</dd>
        {usage.cost_usd !== null && (
          <>
            <dt>cost</dt>
            <dd>{dollars(usage.cost_usd)}</dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Names({ title, rows }: { title: string; rows: TaskRow[] }) {
  if (!rows.length) return null
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {rows.slice(0, 20).map(row => (
          <Link key={row.id} className="link id after" href={`/tasks/${encodeURIComponent(row.id)}`}>
            <Glyph mark={markOf(row)} /> {row.id}
          </Link>
        ))}
        {rows.length > 20 && <span className="dim">and {rows.length - 20} more</span>}
      </dd>
    </>
  )
}

function Around({ row }: { row: TaskRow }) {
  const tasks = usePicture(state => state.tasks)
  const needs = row.needs.map(name => tasks.get(name)).filter(each => each !== undefined)
  const then = useMemo(() => [...tasks.values()].filter(each => each.needs.includes(row.id)), [tasks, row.id])
  return (
    <section aria-label="Around it">
      <h2>Around it</h2>
      <dl className="kv">
        <Names title="needs" rows={needs} />
        <Names title="needed by" rows={then} />
        {row.parent && (
          <>
            <dt>proposed by</dt>
            <dd className="id">{row.parent}</dd>
          </>
        )}
        <dt>agent</dt>
        <dd>{row.agent}</dd>
        <dt>category</dt>
        <dd>{row.category}</dd>
        <dt>expected</dt>
        <dd>{row.expected_seconds === null ? "unknown" : lasting(row.expected_seconds)}</dd>
      </dl>
      {row.landed_commit && <Cli line={`interlock undo ${row.id}`} />}
    </section>
  )
}

/** What is known for certain: attempts, checks, files, tokens. */
export function Facts({ row, document }: { row: TaskRow; document: TaskDocument }) {
  return (
    <aside className="rt" aria-label="Facts" tabIndex={0}>
      <Attempts attempts={document.attempts} />
      <Evidence row={row} attempts={document.attempts} />
      <Files document={document} />
      <Tokens row={row} />
      <Around row={row} />
    </aside>
  )
}
