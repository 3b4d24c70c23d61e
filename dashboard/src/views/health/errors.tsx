import { useEffect } from "react"
import { Link } from "wouter"
import { useAct } from "../../api/act"
import type { FailureObject, FlakyObject, HealthDocument } from "../../api/types"
import { markOf } from "../../parts/buckets"
import { Button, Outcome } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { clock, counted } from "../../parts/time"
import { usePicture } from "../../store/picture"

const TASKS_SHOWN = 8
const RETRY = "interlock retry "

function TaskLink({ name }: { name: string }) {
  const row = usePicture(state => state.tasks.get(name))
  return (
    <Link
      className="id link after"
      href={`/tasks/${encodeURIComponent(name)}`}
      data-cli={`interlock show ${name}`}
    >
      {row && <Glyph mark={markOf(row)} />} {name}
    </Link>
  )
}

/** The command that helps; where it is a retry, as a button too. */
function Next({ failure }: { failure: FailureObject }) {
  const act = useAct()
  const { clear } = act
  useEffect(() => clear(), [failure.next, clear])
  const tasks = failure.next.startsWith(RETRY) ? failure.next.slice(RETRY.length).split(" ") : []
  return (
    <div className="w row wrap">
      {tasks.length > 0 && act.state !== "done" && (
        <Button
          line={failure.next}
          disabled={act.state === "busy"}
          onPress={() => void act.run("retry", { tasks })}
        >
          Retry {tasks.length > 1 ? counted(tasks.length, "task") : tasks[0]}
        </Button>
      )}
      <Cli line={failure.next} />
      <Outcome act={act} />
    </div>
  )
}

function Failure({ failure, selected }: { failure: FailureObject; selected: boolean }) {
  const { example, first, last, open, tasks } = failure
  const when = clock(first) === clock(last) ? clock(first) : `${clock(first)} to ${clock(last)}`
  const names = open.length ? open : tasks
  return (
    <article
      className={`er ${selected ? "sel" : ""}`}
      data-entry={failure.id}
      aria-label={`Error ${failure.id}`}
    >
      <Glyph mark="failed" />
      <code className="e">
        <Inert text={failure.what} max={300} links={false} />
      </code>
      <span className="dim t12 nw">{counted(failure.times, "time")}</span>
      <div className="w">
        <span className="tag">{failure.error}</span> {when}
        {example && !example.includes(failure.what) && (
          <p className="dim">
            <Inert text={example} max={400} />
          </p>
        )}
      </div>
      <div className="w">
        {names.slice(0, TASKS_SHOWN).map(name => (
          <TaskLink key={name} name={name} />
        ))}
        {names.length > TASKS_SHOWN && <span className="dim">and {names.length - TASKS_SHOWN} more</span>}
      </div>
      {failure.past_it.length > 0 && (
        <div className="w dim">
          resolved: <Inert text={failure.past_it.slice(0, 4).join("; ")} max={300} links={false} />
        </div>
      )}
      <Next failure={failure} />
      <div className="w">
        <Cli line={`interlock errors ${failure.id}`} />
        {failure.lesson && <Cli line={`interlock lessons ${failure.lesson}`} />}
      </div>
    </article>
  )
}

/** Failures that tasks have now, each once. */
export function Errors({ health, selected }: { health: HealthDocument; selected: string | null }) {
  const { errors, past_errors: past } = health
  const times = errors.reduce((sum, each) => sum + each.times, 0)
  return (
    <section className="card" aria-label="Errors">
      <header>
        <h2>Errors, each once</h2>
        <span className="dim t12 cut">
          {errors.length > 0 && `${counted(errors.length, "kind")}, ${counted(times, "time")}`}
        </span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock errors" />
        </span>
      </header>
      {errors.length === 0 && (
        <div className="empty">
          <b>No task has a failure</b>A failure comes here once, with all tasks that share it.
        </div>
      )}
      {errors.map(each => (
        <Failure key={each.id} failure={each} selected={each.id === selected} />
      ))}
      {past > 0 && (
        <p className="row wrap more-errors dim t12">
          {counted(past, "failure")} that no task has any more: <Cli line="interlock errors --all" />
        </p>
      )}
    </section>
  )
}

/** Checks that failed and passed on the same files. */
export function Flaky({ checks }: { checks: readonly FlakyObject[] }) {
  return (
    <section className="card" aria-label="Flaky checks">
      <header>
        <h2>Flaky checks</h2>
        <span className="sp" />
        <Cli line="interlock errors --flaky" />
      </header>
      {checks.length === 0 && (
        <p className="pad t12 mid">No check has failed and passed on the same files.</p>
      )}
      {checks.length > 0 && (
        <table className="tbl">
          <thead>
            <tr>
              <th>check</th>
              <th className="num">flaked</th>
              <th>last in</th>
            </tr>
          </thead>
          <tbody>
            {checks.slice(0, 12).map(check => {
              const last = check.flakes.at(-1)
              return (
                <tr key={check.command}>
                  <td>
                    <code>
                      <Inert text={check.command} max={300} links={false} />
                    </code>
                  </td>
                  <td className="num">
                    {check.flaked} of {counted(check.runs, "run")}
                  </td>
                  <td className="nw">
                    {last?.task ? <TaskLink name={last.task} /> : "main"}{" "}
                    <span className="dim">{last && clock(last.time)}</span>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </section>
  )
}
