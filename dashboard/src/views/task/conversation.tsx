import { memo, useEffect, useMemo, useRef, useState } from "react"
import { useAct } from "../../api/act"
import type { TaskDocument } from "../../api/types"
import { Button, Outcome } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Inert, inertText } from "../../parts/inert"
import { counted } from "../../parts/time"
import type { SessionEvent } from "./read"

const LONG_CHARS = 1500
const SHOWN = 300

interface Entry extends SessionEvent {
  outcome?: string
  failed?: boolean
}

/** Tool calls with their results, in the order of the calls. */
export function entriesOf(events: readonly SessionEvent[]): Entry[] {
  const found: Entry[] = []
  const calls = new Map<string, Entry>()
  for (const event of events) {
    const last = found.at(-1)
    if (event.kind === "result") {
      const call = calls.get(event.call ?? "")
      if (call) {
        call.failed = event.ok === false
        call.outcome ??= event.ok === false ? "failed" : ""
      }
    } else if (event.kind === "command" && last?.kind === "tool" && last.text === event.text) {
      last.outcome = event.exit_code == null ? "" : `exit ${event.exit_code}`
      last.failed = Boolean(event.exit_code)
    } else if (event.kind === "edit" && last?.kind === "tool" && last.text?.endsWith(event.path ?? "?")) {
      last.path = event.path ?? ""
    } else if (event.kind !== "usage") {
      const entry: Entry = { ...event }
      found.push(entry)
      if (event.call) calls.set(event.call, entry)
    }
  }
  return found
}

function words(entry: Entry): [what: string, about: string] {
  const { kind, text = "" } = entry
  if (kind === "tool") return [entry.tool ?? "tool", text]
  if (kind === "command") return ["run", text]
  if (kind === "edit") return ["edit", entry.path ?? ""]
  if (kind === "session") return ["session", [entry.model, entry.session].filter(Boolean).join(" ")]
  if (kind === "denied") return ["denied", `${entry.tool ?? ""} ${text}`]
  if (kind === "asked") return ["asks", `${entry.tool ?? ""} ${text}`]
  if (kind === "retry") return ["model asked again", text || (entry.error ?? "")]
  if (kind === "end") return [entry.ok === false ? "ended badly" : "ended", text]
  return [kind, text]
}

const Message = memo(function Message({ text, who }: { text: string; who?: string }) {
  const [all, showAll] = useState(false)
  const long = text.length > LONG_CHARS
  return (
    <div className={`m ${who ? "you" : ""}`}>
      {who && <b className="med">{who}</b>}
      <p>
        <Inert text={long && !all ? text.slice(0, LONG_CHARS) : text} />
        {long && !all && (
          <>
            {" … "}
            <Button kind="quiet" onPress={() => showAll(true)}>
              the rest
            </Button>
          </>
        )}
      </p>
    </div>
  )
})

function Step({ entry }: { entry: Entry }) {
  const [what, about] = words(entry)
  const code = entry.kind === "command" ? entry.exit_code : null
  const outcome = entry.outcome ?? (code == null ? "" : `exit ${code}`)
  const bad =
    entry.failed ||
    Boolean(code) ||
    ["denied", "error"].includes(entry.kind) ||
    (entry.kind === "end" && entry.ok === false)
  return (
    <div className={`tool ${entry.kind === "asked" ? "you" : ""}`}>
      <span className={bad && !outcome ? "c-failed" : ""}>
        <Inert text={what} max={60} links={false} />
      </span>
      <code className="cut" title={inertText(about, 1000)}>
        <Inert text={about} max={300} links={false} />
      </code>
      <span className={bad ? "c-failed nw" : "c-landed nw"}>{outcome}</span>
    </div>
  )
}

function Say({ task }: { task: string }) {
  const [text, setText] = useState("")
  const act = useAct()
  const send = async () => {
    if (text.trim() && act.state !== "busy" && (await act.run("say", { task, text: text.trim() })))
      setText("")
  }
  return (
    <form
      className="say"
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        className="field"
        rows={2}
        aria-label="Message to the agent"
        placeholder="Tell the agent something"
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => event.key === "Enter" && (event.metaKey || event.ctrlKey) && void send()}
      />
      <div className="row wrap">
        <Button
          line={`interlock say ${task} "..."`}
          onPress={() => void send()}
          disabled={!text.trim() || act.state === "busy"}
        >
          Send
        </Button>
        <Cli line={`interlock say ${task} "..."`} />
        <Outcome act={act} />
      </div>
    </form>
  )
}

interface Props {
  document: TaskDocument
  events: readonly SessionEvent[]
  cut: boolean
  canSay: boolean
}

/** What the agent was asked, said and did. */
export function Conversation({ document, events, cut, canSay }: Props) {
  const entries = useMemo(() => entriesOf(events), [events])
  const [shown, show] = useState(SHOWN)
  const end = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  // New entries come into view only for a reader who is at the end already.
  useEffect(() => {
    const box = list.current?.parentElement
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 160)
      end.current?.scrollIntoView({ block: "nearest" })
  }, [])
  const { spec, questions } = document
  const said = document.attempts.at(-1)?.phases[0]?.said ?? ""
  const hidden = Math.max(0, entries.length - shown)
  return (
    <>
      <div className="talk" ref={list}>
        <div className="m">
          <b className="med">Goal</b>
          <p>
            <Inert text={spec.goal} max={8000} />
          </p>
          {spec.done_when.length > 0 && (
            <p className="dim">
              Done when{" "}
              {spec.done_when.map(command => (
                <code key={command}>
                  <Inert text={command} max={300} links={false} />{" "}
                </code>
              ))}
              passes.
            </p>
          )}
        </div>
        {(hidden > 0 || cut) && (
          <div className="tool">
            <span />
            {hidden > 0 ? (
              <Button kind="quiet" onPress={() => show(shown + SHOWN)}>
                {counted(hidden, "earlier entry", "earlier entries")}
              </Button>
            ) : (
              <Cli line={`interlock logs ${spec.id} --events`} />
            )}
          </div>
        )}
        {entries.slice(hidden).map((entry, index) =>
          // A conversation only grows at its end.
          entry.kind === "message" ? (
            <Message key={hidden + index} text={entry.text ?? ""} />
          ) : (
            <Step key={hidden + index} entry={entry} />
          ),
        )}
        {questions.map((question, index) => (
          <div key={`${question.attempt} ${index}`}>
            <Message text={question.text} who={`It asked in attempt ${question.attempt}`} />
            {question.answer !== null && <Message text={question.answer} who="The answer" />}
          </div>
        ))}
        {entries.length === 0 && said && <Message text={said} />}
        {entries.length === 0 && !said && (
          <p className="empty">Nothing was said yet. Some agents only print: see Output.</p>
        )}
        <div ref={end} />
      </div>
      {canSay && <Say task={spec.id} />}
    </>
  )
}
