/** The bars of the timeline as data: which rows there are, and what each of them shows from when to when. */
import type { Bar, Bucket, Mark, TaskRow, TimelineDocument, TimelineTask } from "../../api/types"
import { BUCKETS } from "../../parts/buckets"

export type Kind =
  | "blocked"
  | "queued"
  | "working"
  | "checking"
  | "early"
  | "needs"
  | "landed"
  | "checked"
  | "failed"
  | "expected"

export interface Segment {
  kind: Kind
  from: number
  to: number
  /** For the label of the row and the tooltip. */
  text: string
}

export interface Line {
  key: string
  /** The task that a click opens; none: the row of an agent. */
  task: string
  name: string
  segments: Segment[]
  landed: number | null
  critical: boolean
}

export interface Group {
  title: string
  lines: Line[]
}

const FAILED = ["failed", "lost"]
const OPENS: Record<string, string> = { QuestionAsked: "asks a question", ReviewOpened: "in review" }
const CLOSES = ["QuestionAnswered", "ReviewApproved", "ReviewRejected", "TaskCancelled", "TaskReset"]

const works = (bar: Bar) => bar.kind === "agent"

/** When a task waited for a person, as the moments of the run tell. */
function waits(task: string, marks: Mark[], end: number): Segment[] {
  const found: Segment[] = []
  let open: Mark | null = null
  for (const mark of marks) {
    if (mark.task !== task || mark.time > end) continue
    if (mark.kind in OPENS) open = mark
    else if (open && CLOSES.includes(mark.kind)) {
      found.push({ kind: "needs", from: open.time, to: mark.time, text: OPENS[open.kind] ?? "" })
      open = null
    }
  }
  if (open) found.push({ kind: "needs", from: open.time, to: end, text: OPENS[open.kind] ?? "" })
  return found
}

function segmentsOf(
  task: TimelineTask,
  row: TaskRow | undefined,
  marks: Mark[],
  start: number,
  end: number,
): Segment[] {
  const found: Segment[] = []
  const add = (kind: Kind, from: number, to: number, text: string) => {
    if (from < end && to > start && to > from)
      found.push({ kind, from: Math.max(from, start), to: Math.min(to, end), text })
  }
  const began = task.bars[0]?.started ?? (row?.state === "cancelled" ? row.since : end)
  const ready = task.ready !== null && task.ready <= end ? task.ready : null
  const open = row === undefined || row.state !== "done" || task.bars.length > 0
  if (open) {
    add("blocked", task.accepted, Math.min(ready ?? began, began), "blocked: a need has not landed")
    if (ready !== null) add("queued", ready, began, "ready, not started")
  }
  const landed = task.landed !== null && task.landed <= end
  for (const bar of task.bars) {
    if (bar.started > end) continue
    const to = bar.ended ?? end
    const over = bar.ended !== null && bar.ended <= end
    const about = `${bar.phase}, attempt ${bar.attempt}${over ? `: ${bar.outcome}` : ""}`
    const failed = over && FAILED.includes(bar.outcome)
    if (failed) add("failed", bar.started, to, `${about}${bar.text ? `, ${bar.text}` : ""}`)
    else if (bar.kind === "build")
      add("early", bar.started, to, `early check${over ? `: ${bar.outcome}` : ""}`)
    else if (works(bar)) add(landed ? "landed" : "working", bar.started, to, about)
    else add(landed ? "checked" : "checking", bar.started, to, about)
  }
  found.push(
    ...waits(task.task, marks, end)
      .filter(each => each.from < end && each.to > start)
      .map(each => ({ ...each, from: Math.max(each.from, start) })),
  )
  return found
}

/** What is still to come of a task: a guess, drawn as an outline. */
function expected(row: TaskRow | undefined, end: number, document: TimelineDocument): Segment[] {
  if (!row) return []
  const lands = document.expected[row.id]
  if (lands !== undefined && lands > end)
    return [{ kind: "expected", from: end, to: lands, text: "probably on main then" }]
  if (row.bucket !== "working" || row.expected_seconds === null) return []
  const to = row.since + row.expected_seconds
  return to > end ? [{ kind: "expected", from: end, to, text: "the agent probably ends then" }] : []
}

interface Drawn {
  document: TimelineDocument
  tasks: ReadonlyMap<string, TaskRow>
  /** Only what is under way, or of the critical path. */
  short: boolean
  start: number
  /** The moment that is shown: nothing after it is drawn, but what is expected. */
  end: number
  live: boolean
}

export function byTask(drawn: Drawn): Group[] {
  const { document, tasks, start, end, live } = drawn
  const critical = new Set(document.critical)
  const lines = new Map<string, Line>()
  for (const task of document.tasks) {
    if (task.accepted > end) continue
    const row = tasks.get(task.task)
    lines.set(task.task, {
      key: task.task,
      task: task.task,
      name: task.task,
      segments: [
        ...segmentsOf(task, row, document.marks, start, end),
        ...(live ? expected(row, end, document) : []),
      ],
      landed: task.landed !== null && task.landed <= end ? task.landed : null,
      critical: critical.has(task.task),
    })
  }
  const groups: Group[] = []
  const path = document.critical.map(name => lines.get(name)).filter(line => line !== undefined)
  if (path.length > 1) groups.push({ title: "Critical path", lines: path })
  const shownOnPath = new Set(path.length > 1 ? document.critical : [])
  const inBucket = new Map<Bucket | "other", Line[]>()
  for (const line of lines.values()) {
    if (shownOnPath.has(line.task)) continue
    const bucket = tasks.get(line.task)?.bucket ?? "other"
    const known = inBucket.get(bucket)
    if (known) known.push(line)
    else inBucket.set(bucket, [line])
  }
  for (const bucket of ["needs_you", "train", "working", "ready", "blocked", "failed", "landed"] as const) {
    const found = inBucket.get(bucket)
    if (!found || (drawn.short && bucket === "landed")) continue
    if (bucket === "landed") found.sort((a, b) => (a.landed ?? 0) - (b.landed ?? 0))
    groups.push({ title: BUCKETS[bucket].title, lines: found })
  }
  const other = inBucket.get("other")
  if (other && !drawn.short) groups.push({ title: "No longer in the plan", lines: other })
  return groups
}

interface Work {
  task: string
  agent: string
  bar: Bar
}

/** One row for each agent that worked at once: each attempt is in the first row that was free. */
export function byAgent(drawn: Drawn): Group[] {
  const { document, tasks, start, end } = drawn
  const work: Work[] = []
  for (const task of document.tasks)
    for (const bar of task.bars)
      if (bar.started <= end && (bar.ended ?? end) >= start && works(bar))
        work.push({ task: task.task, agent: bar.agent || "agent", bar })
  work.sort((a, b) => a.bar.started - b.bar.started)
  const rows = new Map<string, { until: number; line: Line }[]>()
  const landed = new Map(document.tasks.map(task => [task.task, task.landed]))
  for (const { task, agent, bar } of work) {
    const known = rows.get(agent) ?? []
    rows.set(agent, known)
    let lane = known.find(each => each.until <= bar.started)
    if (!lane) {
      const name = `${agent} ${known.length + 1}`
      lane = { until: 0, line: { key: name, task: "", name, segments: [], landed: null, critical: false } }
      known.push(lane)
    }
    lane.until = bar.ended ?? Infinity
    const over = bar.ended !== null && bar.ended <= end
    const at = landed.get(task) ?? null
    const failed = over && FAILED.includes(bar.outcome)
    lane.line.segments.push({
      kind: failed ? "failed" : over && at !== null && at <= end ? "landed" : "working",
      from: Math.max(bar.started, start),
      to: Math.min(bar.ended ?? end, end),
      text: task,
    })
    if (!over) lane.line.segments.push(...(drawn.live ? expected(tasks.get(task), end, document) : []))
  }
  const lines = [...rows.entries()]
    .sort(([a], [b]) => a.localeCompare(b))
    .flatMap(([, lanes]) => lanes.map(each => each.line))
  return lines.length ? [{ title: "Agents", lines }] : []
}

/** How many agents worked, and how many tasks had landed, in equal steps of time. */
export function curves(document: TimelineDocument, start: number, end: number, steps: number) {
  const width = Math.max(end - start, 1) / steps
  const begun = new Float64Array(steps + 2)
  const landed = new Float64Array(steps + 2)
  const place = (time: number) => Math.max(0, Math.min(steps + 1, Math.ceil((time - start) / width)))
  for (const task of document.tasks) {
    for (const bar of task.bars) {
      if (!works(bar)) continue
      begun[place(bar.started)]! += 1
      if (bar.ended !== null) begun[place(bar.ended)]! -= 1
    }
    if (task.landed !== null && task.landed >= start) landed[place(task.landed)]! += 1
  }
  const working: number[] = []
  const done: number[] = []
  let at = 0
  let sum = 0
  for (let step = 0; step <= steps; step++) {
    at += begun[step] ?? 0
    sum += landed[step] ?? 0
    working.push(at)
    done.push(sum)
  }
  return { working, done }
}

/** Round distances for the marks of the axis, in seconds. */
const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800,
]

export function ticks(start: number, end: number, most: number): number[] {
  const step = STEPS.find(each => (end - start) / each <= most) ?? 2_592_000
  // Whole hours by the clock of the reader, not of UTC.
  const shift = new Date(start * 1000).getTimezoneOffset() * 60
  const found: number[] = []
  for (let at = Math.ceil((start - shift) / step) * step + shift; at <= end; at += step) found.push(at)
  return found
}
