/** What the bars mean: a shape for each kind, the same as in the rows. */
import type { Kind } from "./draw"

const WORDS: Record<Kind, string> = {
  blocked: "blocked",
  queued: "queued",
  working: "working",
  needs: "waits for you",
  checking: "checking",
  early: "early check",
  landed: "landed",
  checked: "checked, landed",
  failed: "failed",
  expected: "expected",
}

const SHOWN: Record<"task" | "agent", Kind[]> = {
  task: ["blocked", "queued", "working", "needs", "checking", "early", "landed", "failed", "expected"],
  agent: ["working", "landed", "failed", "expected"],
}
const ON_PHONE: Kind[] = ["blocked", "queued", "working", "needs", "checking", "landed"]

export function Legend({ rows, narrow }: { rows: "task" | "agent"; narrow: boolean }) {
  const shown = SHOWN[rows].filter(kind => !narrow || ON_PHONE.includes(kind))
  return (
    <div className="leg" aria-label="Meaning of the bars" role="group">
      {shown.map(kind => (
        <span key={kind}>
          <i className={`tb k-${kind}`} aria-hidden="true" />
          {WORDS[kind]}
        </span>
      ))}
      {rows === "task" && (
        <span>
          <i className="tb k-path" aria-hidden="true" />
          critical path
        </span>
      )}
    </div>
  )
}
