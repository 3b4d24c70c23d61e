import { type ReactNode, useMemo, useRef, useState } from "react"
import { useAct } from "../../../api/act"
import type { Comment } from "../../../api/types"
import { useKeys } from "../../../frame/keys"
import { Outcome, WithText } from "../../../parts/button"
import { Empty } from "../../../parts/empty"
import { Inert } from "../../../parts/inert"
import { counted } from "../../../parts/time"
import { DiffFile, type Place } from "./file"
import { parseDiff } from "./parse"
import "./diff.css"

/** Where a comment goes: to the review, or to the agent at once. */
export type Recipient = "review" | "agent" | null

const nameOf = ({ path, line }: Place) => `${path}:${line}`

function Said({ comment }: { comment: Comment }) {
  return (
    <div className="cm">
      <div>
        <b className="med">
          <Inert text={comment.by} max={80} links={false} />
        </b>{" "}
        <span className="dim">{comment.line ? `line ${comment.line}` : "the whole file"}</span>
        <br />
        <Inert text={comment.text} max={4000} />
      </div>
    </div>
  )
}

function Draft({
  task,
  place,
  to,
  onClose,
  onDone,
}: {
  task: string
  place: Place
  to: "review" | "agent"
  onClose: () => void
  onDone: () => void
}) {
  const act = useAct()
  const where = nameOf(place)
  const line =
    to === "review" ? `interlock comment ${task} ${where} "..."` : `interlock say ${task} "${where}: ..."`
  const send = async (text: string) => {
    const done =
      to === "review"
        ? await act.run("comment", { task, path: place.path, line: place.line, text })
        : await act.run("say", { task, text: `${where}: ${text}` })
    if (done && to === "review") onDone()
  }
  return (
    <div className="cm">
      <div className="stack">
        {act.state !== "done" && (
          <WithText
            open
            label={to === "review" ? "Comment" : "Send to the agent"}
            line={line}
            placeholder={`Comment on line ${place.line}; the agent reads it`}
            busy={act.state === "busy"}
            onSend={text => void send(text)}
            onClose={onClose}
          />
        )}
        <Outcome act={act} />
      </div>
    </div>
  )
}

interface Props {
  task: string
  text: string
  cut: boolean
  comments: readonly Comment[]
  to: Recipient
  onComment: () => void
}

/** The change of a task, with comments by line. */
export function Diff({ task, text, cut, comments, to, onComment }: Props) {
  const files = useMemo(() => parseDiff(text), [text])
  const [place, comment] = useState<Place | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const over = useRef<string>("")

  const below = useMemo(() => {
    const found = new Map<string, ReactNode>()
    comments.forEach((each, index) => {
      const name = nameOf(each)
      found.set(name, [found.get(name), <Said key={`${name} ${index}`} comment={each} />])
    })
    if (place && to) {
      const name = nameOf(place)
      found.set(name, [
        found.get(name),
        <Draft
          key="draft"
          task={task}
          place={place}
          to={to}
          onClose={() => comment(null)}
          onDone={() => {
            comment(null)
            onComment()
          }}
        />,
      ])
    }
    return found
  }, [comments, place, to, task, onComment])

  const jump = (step: number) => {
    const heads = [...(box.current?.querySelectorAll<HTMLElement>("[data-file]") ?? [])]
    const top = box.current?.getBoundingClientRect().top ?? 0
    const at = heads.findLastIndex(each => each.getBoundingClientRect().top - top < 48)
    heads[Math.max(0, Math.min(heads.length - 1, at + step))]?.scrollIntoView({ block: "start" })
  }
  useKeys({
    n: () => jump(1),
    p: () => jump(-1),
    c: () => {
      const first = files.find(file => file.added)?.hunks[0]?.lines.find(line => line.kind === "add")
      const name = over.current || (first ? `${files.find(file => file.added)?.path}:${first.new}` : "")
      const colon = name.lastIndexOf(":")
      if (to && colon > 0) comment({ path: name.slice(0, colon), line: Number(name.slice(colon + 1)) })
    },
  })
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  if (files.length === 0) return <Empty title="No lines are changed" />
  return (
    <div
      ref={box}
      className="diff"
      onMouseOver={event => {
        const target =
          event.target instanceof Element ? event.target.closest<HTMLElement>("[data-line]") : null
        if (target?.dataset.line) over.current = target.dataset.line
      }}
    >
      <p className="sum dim t12">
        <span className="c-landed">+{added}</span> <span className="c-failed">−{removed}</span> in{" "}
        {counted(files.length, "file")}
        {to && <span className="hide-n">; a line number, or c, opens a comment</span>}
      </p>
      {files.map((file, index) => (
        <DiffFile
          key={file.path}
          file={file}
          place={`${index + 1} of ${files.length}`}
          below={below}
          onComment={to ? comment : null}
        />
      ))}
      {cut && <Empty title="The diff goes on" line={`interlock diff ${task}`} />}
    </div>
  )
}
