/** Keep the picture true: one snapshot, then the changes after it. A gap is filled by a new snapshot. */
import { enter, ofProject, read, Refused } from "../api/client"
import type { Update } from "../api/types"
import { freezeTime, setServerTime } from "../parts/time"
import { type Picture, picture } from "./picture"
import { type Heard, shareTabs } from "./tabs"

const RETRY_MILLISECONDS = 1000
/** Another tab may get a token meanwhile. */
const DENIED_MILLISECONDS = 5000
/** The server says that it is alive every two seconds, if nothing else. */
const SILENT_MILLISECONDS = 10_000

interface Alive {
  cursor: string
  time: number
  stale_seconds: number
  problem: string
}

let cursor = ""
let source: EventSource | undefined
let watchdog: ReturnType<typeof setTimeout> | undefined
let parked: Picture | undefined
let starting = false
/** This tab has the stream, and passes it on to the others. */
let leads = false
/** The tab that leads is silent: this one has a stream of its own until it is heard again. */
let alone = false
let passOn: (heard: Heard) => void = () => {}

/** A map with some entries replaced and some gone; the same map if there are none. */
function merged<Row>(
  known: ReadonlyMap<string, Row>,
  rows: Row[],
  gone: string[],
  name: (row: Row) => string,
) {
  if (!rows.length && !gone.length) return known
  const next = new Map(known)
  for (const each of gone) next.delete(each)
  for (const row of rows) next.set(name(row), row)
  return next
}

/** The parts of the picture that an update changes. One without `after` is the whole. */
export function changed(state: Picture, update: Update): Partial<Picture> {
  const { seq, project, tasks, agents, frame, inbox, queue, radar } = update
  const gone = "gone" in update ? update.gone : undefined
  const isWhole = !gone
  return {
    seq,
    project,
    tasks: merged(isWhole ? new Map() : state.tasks, tasks, gone?.tasks ?? [], row => row.id),
    agents: merged(isWhole ? new Map() : state.agents, agents, gone?.agents ?? [], row => row.task),
    ...(frame && { frame }),
    ...(inbox && { inbox }),
    ...(queue && { queue }),
    ...(radar && { radar }),
  }
}

function show(change: Partial<Picture>, time: number, staleSeconds = 0, problem = "") {
  setServerTime(time)
  const head = change.seq ?? current().seq
  const heard = { link: "live" as const, heard: Date.now() / 1000 - staleSeconds, problem, head }
  if (parked) {
    parked = { ...parked, ...change }
    picture.set(heard)
  } else {
    picture.set({ ...change, ...heard })
  }
}

function current(): Picture {
  return parked ?? picture.get()
}

/** "Pause view": changes are collected, and shown together when the view goes on. */
export function holdView(held: boolean) {
  if (held === picture.get().held || picture.get().at !== null) return
  if (held) parked = picture.get()
  else release()
  picture.set({ held })
}

/** Show what was collected. */
function release() {
  if (!parked) return
  const { link: _link, heard: _heard, held: _held, problem: _problem, head: _head, ...rest } = parked
  parked = undefined
  picture.set(rest)
}

/** A moment of the log: by the position of a fact, or by the time of the log's clock. */
export type Moment = { at: number } | { time: number }

let wanted: Moment | undefined
let fetching = false

/** Replay: show a moment of the past in every view; null: the present. Of many asked for quickly, the last one. */
export async function showMoment(moment: Moment | null) {
  if (moment === null) {
    wanted = undefined
    freezeTime(null)
    release()
    picture.set({ at: null, held: false, noMoment: "" })
    return
  }
  wanted = moment
  if (fetching) return
  fetching = true
  while (wanted) {
    const [name, value] = Object.entries(wanted)[0] ?? ["at", 1]
    const asked: Moment | undefined = wanted
    try {
      const then = await read<Update>(`/api/snapshot?${name}=${value}`)
      if (wanted) showThen(then)
    } catch (error) {
      picture.set({ noMoment: error instanceof Error ? error.message : String(error) })
    }
    if (wanted === asked) wanted = undefined
  }
  fetching = false
}

function showThen(then: Update) {
  parked ??= picture.get()
  freezeTime(then.time)
  picture.set({ ...changed(picture.get(), then), at: then.seq, held: false, noMoment: "" })
}

/** The name of the server's feed, and the revision in it. */
function place(at: string): [feed: string, revision: number] {
  const dash = at.lastIndexOf("-")
  return [at.slice(0, dash), Number(at.slice(dash + 1))]
}

/** True if the picture lacks something of what came before `at`. */
function isBehind(at: string): boolean {
  const [feed, revision] = place(at)
  const [ours, known] = place(cursor)
  return feed !== ours || revision > known
}

/** An event of the stream of this tab, or of the one that leads. */
function hear({ name, data }: Heard) {
  if (starting) return
  if (name === "lost") return lost()
  if (name === "resnapshot") return void start()
  const said = JSON.parse(data) as Alive | Update
  if (isBehind("after" in said ? said.after : said.cursor)) return void start()
  keepWatch()
  if ("stale_seconds" in said) return show({}, said.time, said.stale_seconds, said.problem)
  if (!isBehind(said.cursor)) return show({}, said.time)
  cursor = said.cursor
  show(changed(current(), said), said.time)
}

function hearOther(heard: Heard) {
  if (leads) return
  if (alone) source?.close()
  alone = false
  hear(heard)
}

function listen() {
  source?.close()
  source = new EventSource(ofProject(`/api/stream?after=${encodeURIComponent(cursor)}`))
  for (const name of ["change", "alive", "resnapshot"] as const)
    source.addEventListener(name, event => tell({ name, data: String(event.data) }))
  // EventSource connects again by itself, but gives up for good when a proxy answers with an error.
  source.onerror = () => tell({ name: "lost", data: "" })
}

function tell(heard: Heard) {
  if (leads) passOn(heard)
  hear(heard)
}

function keepWatch() {
  clearTimeout(watchdog)
  watchdog = setTimeout(() => {
    alone = !leads
    lost()
  }, SILENT_MILLISECONDS)
}

function lost(problem = "") {
  source?.close()
  clearTimeout(watchdog)
  picture.set({ link: "lost", problem })
  watchdog = setTimeout(() => void start(), RETRY_MILLISECONDS)
}

async function start() {
  if (starting) return
  starting = true
  source?.close()
  clearTimeout(watchdog)
  try {
    await enter()
    const snapshot = await read<Update>("/api/snapshot")
    cursor = snapshot.cursor
    show({ ...changed(current(), snapshot), round: current().round + 1 }, snapshot.time)
    keepWatch()
    if (leads || alone) listen()
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
      picture.set({ link: "denied" })
      watchdog = setTimeout(() => void start(), DENIED_MILLISECONDS)
    } else lost(error instanceof Refused ? error.message : "")
  } finally {
    starting = false
  }
}

// Before anything changes the address.
const linked = Number(new URLSearchParams(location.search).get("at") ?? "")

/** Called once, when the page is opened. */
export async function begin() {
  await start()
  if (Number.isInteger(linked) && linked > 0) await showMoment({ at: linked })
  passOn = shareTabs(() => {
    leads = true
    alone = false
    if (picture.get().link === "live") listen()
  }, hearOther)
}
