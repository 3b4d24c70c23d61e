/** Keep the picture true: one snapshot, then the changes after it. A gap is filled by a new snapshot. */
import { enter, ofProject, read, Refused } from "../api/client"
import type { Update } from "../api/types"
import { setServerTime } from "../parts/time"
import { type Picture, picture } from "./picture"

const RETRY_MILLISECONDS = 1000
const SILENT_MILLISECONDS = 10_000
/** The server says that it is alive every two seconds, if nothing else. */

let cursor = ""
let source: EventSource | undefined
let watchdog: ReturnType<typeof setTimeout> | undefined
let parked: Picture | undefined

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

function show(change: Partial<Picture>, time: number) {
  setServerTime(time)
  const heard = { link: "live" as const, heard: Date.now() / 1000 }
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
  if (held === picture.get().held) return
  if (held) parked = picture.get()
  else if (parked) {
    const { link: _link, heard: _heard, held: _held, ...rest } = parked
    parked = undefined
    picture.set(rest)
  }
  picture.set({ held })
}

function listen() {
  source?.close()
  source = new EventSource(ofProject(`/api/stream?after=${encodeURIComponent(cursor)}`))
  source.addEventListener("change", event => {
    alive()
    const update = JSON.parse(event.data) as Update
    cursor = update.cursor
    show(changed(current(), update), update.time)
  })
  source.addEventListener("alive", event => {
    alive()
    show({}, (JSON.parse(event.data) as { time: number }).time)
  })
  source.addEventListener("resnapshot", () => void start())
  source.onerror = () => lost()
  alive()
}

function alive() {
  clearTimeout(watchdog)
  watchdog = setTimeout(lost, SILENT_MILLISECONDS)
}

/** EventSource connects again by itself, but gives up for good when a proxy answers with an error. */
function lost() {
  source?.close()
  clearTimeout(watchdog)
  if (picture.get().link === "live") picture.set({ link: "lost" })
  watchdog = setTimeout(() => void start(), RETRY_MILLISECONDS)
}

async function start() {
  source?.close()
  try {
    const snapshot = await read<Update>("/api/snapshot")
    cursor = snapshot.cursor
    show(changed(current(), snapshot), snapshot.time)
    listen()
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403))
      picture.set({ link: "denied" })
    else lost()
  }
}

/** Called once, when the page is opened. */
export async function begin() {
  try {
    await enter()
  } catch {
    picture.set({ link: "denied" })
    return
  }
  await start()
}
