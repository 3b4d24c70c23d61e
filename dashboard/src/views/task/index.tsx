import { useCallback, useMemo, useState } from "react"
import { useSearchParams } from "wouter"
import type { ChangeDocument, ReviewDocument, TaskRow } from "../../api/types"
import { type Read, useRead } from "../../api/use-read"
import { useSay } from "../../frame/command-bar"
import { useKeys } from "../../frame/keys"
import { Empty, Skeleton } from "../../parts/empty"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import { Conversation } from "./conversation"
import { Diff, type Recipient } from "./diff"
import { Facts } from "./facts"
import { Header } from "./header"
import { Output } from "./output"
import { Terminal } from "./terminal"
import { type SessionEvent, useTask, useVersion } from "./read"
import "./task.css"
import { useGrowing } from "./use-growing"

const PANES = ["talk", "diff", "output", "facts"] as const
type Pane = (typeof PANES)[number]
const TITLES: Record<Pane, string> = { talk: "Conversation", diff: "Diff", output: "Output", facts: "Facts" }

/** Events are written one JSON document a line; a line that was cut off is left out. */
function eventsOf(text: string): SessionEvent[] {
  const found: SessionEvent[] = []
  for (const line of text.split("\n")) {
    if (!line) continue
    try {
      found.push(JSON.parse(line) as SessionEvent)
    } catch {
      // The agent was killed while it wrote.
    }
  }
  return found
}

const textOf = (text: string): string[] => (text ? [text] : [])

function usePane(): [Pane, (pane: Pane) => void] {
  const [search, setSearch] = useSearchParams()
  const wanted = search.get("pane")
  const pane = PANES.find(each => each === wanted) ?? "talk"
  return [
    pane,
    next =>
      setSearch(
        before => {
          before.set("pane", next)
          return before
        },
        { replace: true },
      ),
  ]
}

interface ChangeProps {
  row: TaskRow
  working: boolean
  inReview: boolean
  review: Read<ReviewDocument>
  onComment: () => void
}

/** The change in review, with its comments; else the landed one, or that of the newest attempt. */
function Change({ row, working, inReview, review, onComment }: ChangeProps) {
  const version = useVersion(row.id)
  const diff = useRead<ChangeDocument>(
    inReview ? null : `/api/tasks/${encodeURIComponent(row.id)}/diff`,
    version,
  )
  const found = review.data ?? diff.data
  if (!found) {
    if (!review.error && !diff.error) return <Skeleton rows={10} />
    return (
      <Empty title="No change yet" line={`interlock diff ${row.id}`}>
        {working ? "The change of an attempt is here when its agent has ended." : diff.error || review.error}
      </Empty>
    )
  }
  const cut = review.data?.diff_cut ?? diff.data?.cut ?? false
  const to: Recipient = review.data?.waits ? "review" : working ? "agent" : null
  return (
    <Diff
      task={row.id}
      text={found.diff}
      cut={cut}
      comments={review.data?.review.comments ?? []}
      to={to}
      onComment={onComment}
    />
  )
}

function Shown({ row }: { row: TaskRow }) {
  const [pane, setPane] = usePane()
  const { data, error } = useTask(row.id)
  const working = usePicture(state => state.agents.has(row.id) && state.at === null)
  const [noSocket, giveUp] = useState(false)
  const attempt = data?.attempts.at(-1)?.attempt
  const at = `/api/tasks/${encodeURIComponent(row.id)}`
  // A comment changes the review and not the row.
  const [commented, comment] = useState(0)
  const onComment = useCallback(() => comment(count => count + 1), [])
  const rowVersion = useVersion(row.id)
  const version = useMemo(() => [rowVersion, commented], [rowVersion, commented])
  const inReview = usePicture(state =>
    state.inbox.some(item => item.kind === "review" && item.task === row.id),
  )
  const review = useRead<ReviewDocument>(inReview ? `${at}/review` : null, version)
  const log = attempt ? `${at}/log?attempt=${attempt}` : null
  const events = useGrowing(log && `${log}&form=events`, working, eventsOf)
  const middle = pane === "output" ? "output" : "diff"
  const isTerminal = working && attempt !== undefined && !noSocket
  const wantsLog = middle === "output" && !isTerminal
  const output = useGrowing(log && wantsLog ? `${log}&form=raw` : null, working, textOf)
  const canSay = row.state === "running" || row.state === "waiting"
  useKeys(Object.fromEntries(PANES.map((each, index) => [String(index + 1), () => setPane(each)])))
  useSay({ title: row.id, command: `interlock show ${row.id}` })
  const tabs = useMemo(() => PANES, [])
  return (
    <>
      <Header row={row} change={review.data?.review.digest ?? ""} />
      <div className="tabn" role="tablist" aria-label="Parts of the task">
        {tabs.map((each, index) => (
          <button
            key={each}
            type="button"
            role="tab"
            aria-selected={each === pane}
            className={`tab-${each}`}
            onClick={() => setPane(each)}
          >
            {TITLES[each]} <kbd>{index + 1}</kbd>
          </button>
        ))}
      </div>
      <div className={`tk show-${pane}`}>
        <section className="cv" aria-label="Conversation" tabIndex={0}>
          <div className="sec">
            <h2>Conversation</h2>
            <span className="dim cut">
              {row.agent}
              {attempt ? `, attempt ${attempt}` : ""}
            </span>
          </div>
          {data ? (
            <Conversation document={data} events={events.rows} cut={events.cut} canSay={canSay} />
          ) : (
            <Skeleton rows={6} />
          )}
        </section>
        <section className="middle" aria-label={TITLES[middle]} tabIndex={0}>
          <div className="sec">
            <h2>{TITLES[middle]}</h2>
            <span className="sp" />
            <div className="seg">
              <button type="button" aria-pressed={middle === "diff"} onClick={() => setPane("diff")}>
                Diff
              </button>
              <button type="button" aria-pressed={middle === "output"} onClick={() => setPane("output")}>
                Output
              </button>
            </div>
          </div>
          {middle === "diff" ? (
            <Change row={row} working={working} inReview={inReview} review={review} onComment={onComment} />
          ) : isTerminal ? (
            <Terminal key={attempt} task={row.id} attempt={attempt} onFail={() => giveUp(true)} />
          ) : (
            <Output task={row.id} output={output} live={working} />
          )}
        </section>
        {data ? (
          <Facts row={row} document={data} />
        ) : (
          <aside className="rt">{error || <Skeleton rows={8} />}</aside>
        )}
      </div>
    </>
  )
}

function Page({ params }: { params: Record<string, string | undefined> }) {
  const name = params.task ?? ""
  const row = usePicture(state => state.tasks.get(name))
  const ready = usePicture(state => state.frame !== null)
  if (row) return <Shown key={name} row={row} />
  if (!ready) return <Skeleton rows={10} />
  return (
    <Empty title={`There is no task ${name}`} line="interlock status">
      ⌘K finds tasks by a part of their name.
    </Empty>
  )
}

export const task: View = {
  name: "task",
  title: "Task",
  path: "/tasks/:task",
  icon: "task",
  command: "interlock show",
  keys: [
    ["a", "approve"],
    ["r", "send back"],
    ["c", "comment"],
    ["n p", "file"],
    ["1 2 3 4", "parts"],
  ],
  flush: true,
  Page,
}
