import { type CSSProperties, memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import type { Mark } from "../../api/types"
import { Empty } from "../../parts/empty"
import { inertText } from "../../parts/inert"
import { clock, clockWithSeconds, lasting } from "../../parts/time"
import { type Group, type Line, ticks } from "./draw"

const ROW = 20
/** Rows beyond the edge that are there before they are scrolled to. */
const SPARE = 12
const NAME_WIDTH = 172
const NAME_WIDTH_PHONE = 112
const TICK_WIDTH = 96
const SHOWN_MARKS = ["ClutchDecided", "Paused", "Unpaused", "StopRequested"]
const MOST_MARKS = 4
const NAMED_SHARE = 7.2
/** Pixels of a letter, for names within bars. */

type Entry = { title: string; count: number } | Line

interface Scale {
  from: number
  to: number
  width: number
}

function x(scale: Scale, time: number): number {
  const share = (time - scale.from) / Math.max(scale.to - scale.from, 1e-6)
  return Math.max(0, Math.min(1, share)) * scale.width
}

/** The size of the box, and how far it is scrolled. */
function useBox() {
  const ref = useRef<HTMLDivElement>(null)
  const [box, set] = useState({ width: 0, height: 600, top: 0 })
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const look = () =>
      set({ width: element.clientWidth, height: element.clientHeight, top: element.scrollTop })
    look()
    const watch = new ResizeObserver(look)
    watch.observe(element)
    element.addEventListener("scroll", look, { passive: true })
    return () => {
      watch.disconnect()
      element.removeEventListener("scroll", look)
    }
  }, [])
  return { ref, ...box }
}

const words = (line: Line): string =>
  line.segments
    .map(each => `${each.text} ${clockWithSeconds(each.from)} to ${clockWithSeconds(each.to)}`)
    .concat(line.landed === null ? [] : [`landed ${clockWithSeconds(line.landed)}`])
    .join("; ")

const Bars = memo(function Bars({ line, scale, named }: { line: Line; scale: Scale; named: boolean }) {
  return (
    <>
      {line.segments.map((each, index) => {
        const left = x(scale, each.from)
        const width = Math.max(x(scale, each.to) - left, 1.5)
        if (each.to < scale.from || each.from > scale.to) return null
        const fits = named && width > each.text.length * NAMED_SHARE
        return (
          // A bar is its place in the row.
          <i
            key={index}
            className={`tb k-${each.kind} ${line.critical ? "cp" : ""}`}
            style={{ left, width }}
            title={inertText(`${each.text}, ${lasting(each.to - each.from)}`, 300)}
          >
            {fits ? each.text : ""}
          </i>
        )
      })}
      {line.landed !== null && line.landed >= scale.from && line.landed <= scale.to && (
        <i
          className="tb dot"
          style={{ left: x(scale, line.landed) }}
          title={`landed ${clockWithSeconds(line.landed)}`}
        />
      )}
    </>
  )
})

/** The chain of the critical path: from where a task landed to where the next one began. */
function Path(props: { entries: Entry[]; critical: string[]; scale: Scale; end: number }) {
  const { entries, critical, scale } = props
  const place = new Map<string, [number, Line]>()
  entries.forEach((entry, index) => "task" in entry && place.set(entry.task, [index, entry]))
  const parts: string[] = []
  critical.forEach((name, index) => {
    const here = place.get(name)
    const before = place.get(critical[index - 1] ?? "")
    if (!here || !before || before[1].landed === null) return
    const began = here[1].segments.find(each => each.kind !== "blocked")?.from ?? here[1].landed ?? props.end
    if (before[1].landed < scale.from || began > scale.to) return
    const [x1, y1] = [x(scale, before[1].landed), before[0] * ROW + ROW / 2]
    const [x2, y2] = [x(scale, began), here[0] * ROW + ROW / 2]
    parts.push(`M${x1} ${y1}H${Math.max(x1 + 4, x2 - 6)}V${y2}H${x2}`)
  })
  return <path className="cpath" d={parts.join("")} fill="none" />
}

/** The axis: times, the moment, and what befell the whole run. */
function Axis(props: { scale: Scale; moment: number; marks: Mark[]; name: string; names: number }) {
  const { scale, moment } = props
  const found = ticks(scale.from, scale.to, Math.max(2, scale.width / TICK_WIDTH))
  const seconds = scale.to - scale.from < 600
  const say = seconds ? clockWithSeconds : (time: number) => clock(time).slice(-5)
  const marks = props.marks
    .filter(
      mark =>
        SHOWN_MARKS.includes(mark.kind) &&
        mark.task === null &&
        mark.time >= scale.from &&
        mark.time <= moment,
    )
    .slice(-MOST_MARKS)
  const here = x(scale, moment)
  return (
    <div className="axis" aria-hidden="true">
      <span className="what">{props.name}</span>
      <div className="times" style={{ left: props.names }}>
        {found
          .filter(
            time =>
              Math.abs(x(scale, time) - here) > (seconds ? 76 : 52) && x(scale, time) < scale.width - 30,
          )
          .map(time => (
            <span key={time} style={{ left: x(scale, time) }}>
              {say(time)}
            </span>
          ))}
        <b style={{ left: Math.min(Math.max(here, 24), scale.width - 24) }}>{say(moment)}</b>
        {marks.map(mark => (
          <i key={mark.seq} style={{ left: x(scale, mark.time) }} title={inertText(mark.text, 300)} />
        ))}
      </div>
    </div>
  )
}

function Row(props: { entry: Line; top: number; scale: Scale; names: number; named: boolean }) {
  const { entry, scale } = props
  const style: CSSProperties = { top: props.top, height: ROW }
  const inside = (
    <>
      <span className={`tn id cut ${entry.critical ? "semi" : ""}`} style={{ width: props.names - 12 }}>
        {entry.name}
      </span>
      <span className="bars" style={{ left: props.names, width: scale.width }}>
        <Bars line={entry} scale={scale} named={props.named} />
      </span>
      <span className="vh">{inertText(words(entry), 600)}</span>
    </>
  )
  return entry.task ? (
    <Link
      className="tr"
      style={style}
      href={`/tasks/${encodeURIComponent(entry.task)}`}
      data-cli={`interlock show ${entry.task}`}
      data-entry={entry.key}
    >
      {inside}
    </Link>
  ) : (
    <div className="tr" style={style} data-entry={entry.key}>
      {inside}
    </div>
  )
}

/** The rows of the timeline. Only those that can be seen are in the page: a run may have thousands. */
export function Lines(props: {
  groups: Group[]
  rows: "task" | "agent"
  from: number
  to: number
  moment: number
  critical: string[]
  narrow: boolean
  marks: Mark[]
}) {
  const { groups, rows, from, to, narrow } = props
  const { ref, width, height, top } = useBox()
  const names = narrow ? NAME_WIDTH_PHONE : NAME_WIDTH
  const inner = Math.max(width - names - 14, 50)
  const scale = useMemo(() => ({ from, to, width: inner }), [from, to, inner])
  const entries = useMemo(
    () =>
      groups.flatMap((group): Entry[] =>
        rows === "agent" ? group.lines : [{ title: group.title, count: group.lines.length }, ...group.lines],
      ),
    [groups, rows],
  )
  useEffect(() => {
    ref.current?.scrollTo(0, 0)
  }, [ref, rows])
  const first = Math.max(0, Math.floor(top / ROW) - SPARE)
  const last = Math.min(entries.length, Math.ceil((top + height) / ROW) + SPARE)
  const tall = entries.length * ROW + 8
  const here = names + x(scale, props.moment)
  return (
    <div className="tl" ref={ref} tabIndex={0} role="region" aria-label="Tasks on a time axis">
      <Axis scale={scale} moment={props.moment} marks={props.marks} name={rows} names={names} />
      {entries.length === 0 && (
        <Empty title="Nothing was under way at this moment">
          Choose “All” above, or another moment below.
        </Empty>
      )}
      <div className="rows" style={{ height: tall }}>
        <div className="ahead" style={{ left: here }} />
        {ticks(from, to, Math.max(2, inner / TICK_WIDTH)).map(time => (
          <i key={time} className="grid" style={{ left: names + x(scale, time) }} />
        ))}
        {rows === "task" && (
          <svg className="edges" style={{ left: names }} width={inner} height={tall} aria-hidden="true">
            <Path entries={entries} critical={props.critical} scale={scale} end={props.moment} />
          </svg>
        )}
        {entries.slice(first, last).map((entry, index) => {
          const place = (first + index) * ROW
          return "title" in entry ? (
            <h2 key={`group ${entry.title}`} className="gh" style={{ top: place, height: ROW }}>
              {entry.title} <span>{entry.count.toLocaleString("en")}</span>
            </h2>
          ) : (
            <Row
              key={entry.key}
              entry={entry}
              top={place}
              scale={scale}
              names={names}
              named={rows === "agent"}
            />
          )
        })}
        <i className="here" style={{ left: here }} />
      </div>
    </div>
  )
}
