import { useMemo, useState } from "react"
import type { TimelineDocument } from "../../api/types"
import { useRead } from "../../api/use-read"
import { copy, linkToMoment } from "../../frame/copy"
import { useSay } from "../../frame/command-bar"
import { useKeys } from "../../frame/keys"
import { Button } from "../../parts/button"
import { Empty, Skeleton } from "../../parts/empty"
import { useCalmSeq } from "../../parts/every"
import { useNarrow } from "../../parts/narrow"
import { clock, counted, lasting, serverNow, useNow } from "../../parts/time"
import { usePicture } from "../../store/picture"
import { showMoment } from "../../store/stream"
import type { View } from "../view"
import { byAgent, byTask } from "./draw"
import { Legend } from "./legend"
import { Lines } from "./lines"
import { Scrub } from "./scrub"
import "./timeline.css"

const READ_EVERY_SECONDS = 3
/** A phone shows so much before the moment, and so much after it. */
const NEAR_SECONDS = [58 * 60, 32 * 60] as const
const ROOM = 1.04

type Rows = "task" | "agent"

/** The part of time that is drawn: the whole run, or what is near the moment. */
function useSpan(document: TimelineDocument | null, moment: number, live: boolean, near: boolean) {
  return useMemo(() => {
    if (!document?.run) return [0, 1] as const
    const { started, ended } = document.run
    const over = live ? Math.max(moment, ...Object.values(document.expected)) : ended
    const end = started + Math.max(over - started, 1) * ROOM
    if (!near) return [started, end] as const
    return [Math.max(started, moment - NEAR_SECONDS[0]), Math.min(end, moment + NEAR_SECONDS[1])] as const
  }, [document, moment, live, near])
}

function about(document: TimelineDocument, moment: number, live: boolean): string {
  const { run } = document
  if (!run) return ""
  const landed = document.tasks.filter(task => task.landed !== null && task.landed <= moment).length
  const so = live ? `${lasting(moment - run.started)} so far` : `took ${lasting(run.ended - run.started)}`
  const why = !live && run.ended_why ? `, ${run.ended_why.text}` : ""
  return `${so}, ${landed} of ${counted(document.tasks.length, "task")} landed${why}`
}

function Choice<Name extends string>(props: {
  label: string
  names: [Name, string][]
  chosen: Name
  choose: (name: Name) => void
}) {
  return (
    <div className="seg" role="group" aria-label={props.label}>
      {props.names.map(([name, title]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === props.chosen}
          onClick={() => props.choose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  )
}

function Page() {
  const [number, choose] = useState(0)
  const [rows, setRows] = useState<Rows>("task")
  const [short, setShort] = useState(true)
  const narrow = useNarrow()
  const [near, setNear] = useState(narrow)
  const tasks = usePicture(state => state.tasks)
  const at = usePicture(state => state.at)
  const seq = usePicture(state => state.seq)
  const frame = usePicture(state => state.frame)
  const version = useCalmSeq(READ_EVERY_SECONDS)
  const { data, error } = useRead<TimelineDocument>(`/api/timeline?run=${number}`, version, true)
  useNow()
  const run = data?.run ?? null
  const isOn = frame?.run?.live === true && run !== null && data?.runs.at(-1)?.number === run.number
  const live = isOn && at === null
  const now = serverNow()
  const moment = run ? (at !== null || isOn ? Math.max(run.started, now) : run.ended) : now
  const end = run && !isOn ? Math.min(moment, run.ended) : moment
  const [from, to] = useSpan(data, end, isOn, near)
  // With nothing under way, all of a run is what there is to see.
  const busy = [...tasks.values()].some(row => row.state === "running" || row.state === "waiting")
  const onlyOpen = short && (isOn || at !== null) && busy
  const groups = useMemo(() => {
    if (!data?.run) return []
    const drawn = { document: data, tasks, short: onlyOpen, start: from, end, live }
    return rows === "task" ? byTask(drawn) : byAgent(drawn)
  }, [data, tasks, onlyOpen, from, end, live, rows])
  const line = at === null ? "interlock replay last --timeline" : `interlock replay --at ${at}`
  useKeys({ p: () => setShort(before => !before), t: () => setRows(rows === "task" ? "agent" : "task") })
  useSay({ command: line })
  if (!data) return error ? <Empty title={error} line="interlock replay" /> : <Skeleton rows={12} />
  if (!run)
    return (
      <>
        <h1 className="vh">Timeline</h1>
        <Empty title="No run yet" line="interlock run">
          Each attempt of a run is drawn here over time, and any moment of it can be seen again.
        </Empty>
      </>
    )
  return (
    <>
      <div className="hdr tlh">
        <div className="row wrap">
          <h1>Timeline</h1>
          <span className="dim t12">{about(data, end, isOn)}</span>
          <span className="sp" />
          {data.runs.length > 1 && (
            <select
              className="btn"
              aria-label="Run"
              value={run.number}
              onChange={event => {
                if (at !== null) void showMoment(null)
                choose(Number(event.target.value))
              }}
            >
              {[...data.runs].reverse().map(each => (
                <option key={each.number} value={each.number}>
                  Run {each.number}, {clock(each.started)}
                </option>
              ))}
            </select>
          )}
          <Choice<Rows>
            label="Rows"
            names={[
              ["task", "By task"],
              ["agent", "By agent"],
            ]}
            chosen={rows}
            choose={setRows}
          />
          {rows === "task" && (isOn || at !== null) && (
            <Choice
              label="Tasks"
              names={[
                ["open", "Under way"],
                ["all", `All ${data.tasks.length}`],
              ]}
              chosen={short ? "open" : "all"}
              choose={name => setShort(name === "open")}
            />
          )}
          <Choice
            label="Time"
            names={[
              ["run", "Whole run"],
              ["near", "Last hour"],
            ]}
            chosen={near ? "near" : "run"}
            choose={name => setNear(name === "near")}
          />
          <Button
            className="hide-n"
            hotkey="Y"
            line={line}
            onPress={() => void copy(linkToMoment(at ?? seq))}
          >
            Copy link to this moment
          </Button>
        </div>
        <Legend rows={rows} narrow={narrow} />
      </div>
      <Lines
        groups={groups}
        rows={rows}
        from={from}
        to={to}
        moment={end}
        critical={data.critical}
        narrow={narrow}
        marks={data.marks}
      />
      <Scrub document={data} moment={end} isOn={isOn} />
    </>
  )
}

export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  path: "/timeline",
  icon: "timeline",
  key: "t",
  command: "interlock replay last --timeline",
  keys: [
    ["← →", "move in time"],
    ["l", "live"],
    ["p", "under way or all"],
  ],
  flush: true,
  Page,
}
