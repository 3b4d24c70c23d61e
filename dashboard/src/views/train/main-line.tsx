import { useMemo } from "react"
import { Link } from "wouter"
import type { Frame, TaskRow } from "../../api/types"
import { Ago } from "../../parts/ago"
import { Cli } from "../../parts/command"
import { Inert } from "../../parts/inert"
import { usePicture } from "../../store/picture"
import { Choices } from "../inbox/choices"

const LANDED_SHOWN = 4

function newestLanded(tasks: ReadonlyMap<string, TaskRow>): TaskRow[] {
  const landed: TaskRow[] = []
  for (const row of tasks.values()) if (row.landed_commit && row.bucket === "landed") landed.push(row)
  return landed.sort((a, b) => b.since - a.since).slice(0, LANDED_SHOWN)
}

/** The commit of main, and what landed last. */
export function OnMain({ frame }: { frame: Frame }) {
  const tasks = usePicture(state => state.tasks)
  const landed = useMemo(() => newestLanded(tasks), [tasks])
  const { commit, frozen } = frame.main
  const isOther = commit !== null && landed[0]?.landed_commit !== commit
  return (
    <div className="past">
      <span className="dim nw">on main:</span>
      {isOther && <span className={`tag mono ${frozen ? "failed" : ""}`}>{commit.slice(0, 8)}</span>}
      {landed.map((row, index) => (
        <Link
          key={row.id}
          className={`tag ${frozen && index === 0 && !isOther ? "failed" : "landed"} ${index > 1 ? "hide-n" : ""}`}
          href={`/tasks/${encodeURIComponent(row.id)}`}
          data-cli={`interlock show ${row.id}`}
        >
          <span className="mono">{row.landed_commit?.slice(0, 8)}</span> <span className="cut">{row.id}</span>
        </Link>
      ))}
      {!commit && landed.length === 0 && <span className="dim">nothing has landed yet</span>}
      <span className="sp" />
      <span className="hide-n">
        <Cli line="interlock queue ls" />
      </span>
    </div>
  )
}

/** Main is red: since when, which commit is to blame, and the ways out. */
export function RedMain({ frame }: { frame: Frame }) {
  const item = usePicture(state => state.inbox.find(each => each.kind === "red-main"))
  const frozen = frame.main.frozen
  if (!frozen) return null
  const culprit = frozen.culprit as { commit: string; author: string; subject: string; task: string } | null
  return (
    <section className="card" aria-label="Main is red">
      <header>
        <h2>Main is red</h2>
        <span className="sp" />
        <span className="tag failed">
          since <Ago since={frozen.since} />
        </span>
      </header>
      <div className="pad stack">
        <p className="t12">
          <Inert text={frozen.text} max={800} />
        </p>
        <dl className="kv">
          <dt>fails</dt>
          <dd>
            {frozen.checks.slice(0, 6).map(check => (
              <code key={check} className="each">
                <Inert text={check} max={300} links={false} />
              </code>
            ))}
          </dd>
          <dt>culprit</dt>
          {culprit ? (
            <dd>
              <code>{culprit.commit.slice(0, 12)}</code>{" "}
              <Inert text={[culprit.author, culprit.subject].filter(Boolean).join(": ")} max={300} />
            </dd>
          ) : (
            <dd>{frozen.searching ? "being searched" : "no commit was found"}</dd>
          )}
          {frozen.reverted_by && (
            <>
              <dt>reverted by</dt>
              <dd>
                <Link className="id link" href={`/tasks/${encodeURIComponent(frozen.reverted_by)}`}>
                  {frozen.reverted_by}
                </Link>
              </dd>
            </>
          )}
        </dl>
        {item ? <Choices item={item} few /> : frozen.next && <Cli line={frozen.next} />}
      </div>
    </section>
  )
}

/** Checks that fail on main, and hold nothing back: changes are judged by what they add. */
export function KnownRed({ frame }: { frame: Frame }) {
  const { red, frozen } = frame.main
  if (frozen || red.length === 0) return null
  return (
    <section className="card" aria-label="Checks that fail on main">
      <header>
        <h2>Fails on main too</h2>
        <span className="sp" />
        <Cli line="interlock doctor" />
      </header>
      <table className="tbl">
        <tbody>
          {red.slice(0, 12).map(check => (
            <tr key={check.command}>
              <td>
                <code>
                  <Inert text={check.command} max={300} links={false} />
                </code>
              </td>
              <td className="num dim">
                {check.unable
                  ? `cannot run: ${check.unable}`
                  : check.failing_tests
                    ? `${check.failing_tests.length} tests`
                    : `exit ${check.exit_code}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
