import { useAct } from "../../api/act"
import type { TaskRow } from "../../api/types"
import { BUCKETS, markOf } from "../../parts/buckets"
import { Button, Outcome } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { usePicture } from "../../store/picture"
import { Choices } from "../inbox/choices"

const HUES: Record<string, string> = {
  needs_you: "needs",
  landed: "landed",
  failed: "failed",
  working: "running",
  train: "running",
  blocked: "blocked",
}

/** Actions that are always possible in this state, whether or not the task waits for a person. */
function Standing({ row }: { row: TaskRow }) {
  const act = useAct()
  const busy = act.state === "busy"
  const name = row.id
  const isOver = row.state === "done" || row.state === "cancelled" || row.state === "failed"
  const button = (
    label: string,
    line: string,
    action: string,
    body: Record<string, unknown>,
    kind?: "bad",
  ) => (
    <Button kind={kind} line={line} disabled={busy} onPress={() => void act.run(action, body)}>
      {label}
    </Button>
  )
  return (
    <>
      {row.state === "cancelled" && button("Retry", `interlock retry ${name}`, "retry", { tasks: [name] })}
      {!isOver && row.paused && button("Unpause", `interlock unpause ${name}`, "unpause", { task: name })}
      {!isOver && !row.paused && button("Pause", `interlock pause ${name}`, "pause", { task: name })}
      {!isOver && button("Cancel", `interlock cancel ${name}`, "cancel", { tasks: [name] }, "bad")}
      <Outcome act={act} />
    </>
  )
}

/** What the task is, where it stands and why, and what can be done now. */
export function Header({ row, change }: { row: TaskRow; change: string }) {
  const inbox = usePicture(state => state.inbox)
  const item = inbox.find(each => each.task === row.id)
  return (
    <div className="th">
      <div className="row wrap">
        {row.story && <span className="dim t12 nw">{row.story} /</span>}
        <h1>
          <Inert text={row.id} max={200} links={false} />
        </h1>
        <span className={`tag ${HUES[row.bucket] ?? ""}`}>
          <Glyph mark={markOf(row)} />
          {row.state === "cancelled" ? "cancelled" : BUCKETS[row.bucket].title.toLowerCase()}
        </span>
        <span className="mid cut goal">
          <Inert text={row.goal.split("\n", 1)[0]} max={200} links={false} />
        </span>
        <span className="sp" />
        <Standing row={row} />
      </div>
      <div className="row t12 wrap">
        <span className={`why ${item?.kind === "question" ? "med" : "mid"}`}>
          <Inert text={row.reason.text} max={2000} />
        </span>
        {row.next && !item && <Cli line={row.next} />}
      </div>
      {item && (
        <div className="decide">
          <Choices item={item} on="task" change={change} />
        </div>
      )}
    </div>
  )
}
