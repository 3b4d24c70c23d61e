import { Cli } from "../../parts/command"

const STEPS = [
  ["Write a task graph", "One file, task-graph.yaml. Git sees nothing else.", "interlock init"],
  ["See what it would do", "Order, likely conflicts and time. Starts nothing.", "interlock plan"],
  ["Run it", "Agents start as soon as tasks may. Ctrl-C is safe.", "interlock run"],
] as const

/** A repository without a run: what to do first. */
export function FirstSteps() {
  return (
    <div className="first">
      <h1>Nothing runs here yet</h1>
      <p>This page fills by itself when a run starts. You can leave it open.</p>
      <section className="card" aria-label="First steps">
        {STEPS.map(([title, about, line], index) => (
          <div className="step" key={line}>
            <span className="no" aria-hidden="true">
              {index + 1}
            </span>
            <div>
              <span className="med">{title}</span>
              <p>{about}</p>
            </div>
            <Cli line={line} />
          </div>
        ))}
      </section>
      <p className="t12">
        <br />
        Just looking? <code>interlock demo</code> runs twelve scripted agents in a scratch repository: no
        account, no key, under a minute.
      </p>
    </div>
  )
}
