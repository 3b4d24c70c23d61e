/** What the page knows of the project: one value, replaced part by part. */
import { useCallback, useRef, useSyncExternalStore } from "react"
import type { AgentRow, Frame, Item, QueueView, RadarDocument, TaskRow } from "../api/types"
import { Store } from "./store"

export type Link =
  /** The first snapshot is on its way. */
  | "opening"
  | "live"
  /** The server does not answer; the page shows what it knew last. */
  | "lost"
  /** No token, or not this server's. */
  | "denied"

export interface Picture {
  link: Link
  /** Position in the log. */
  seq: number
  /** When what is shown was last known to be true, in seconds by the clock of this machine. */
  heard: number
  /** Why the server cannot tell what is new; empty: it can. */
  problem: string
  /** Counts the whole pictures: what could not be read meanwhile is read again. */
  round: number
  /** "Pause view": the page shows this moment until it is released. */
  held: boolean
  /** Replay: the page shows the project as it was right after this fact, and nothing can be done. Null: now. */
  at: number | null
  /** The newest fact there is, also while an earlier one is shown. */
  head: number
  /** Why a moment that was asked for is not shown. */
  noMoment: string
  project: string
  tasks: ReadonlyMap<string, TaskRow>
  agents: ReadonlyMap<string, AgentRow>
  frame: Frame | null
  inbox: readonly Item[]
  queue: QueueView | null
  radar: RadarDocument | null
}

export const picture = new Store<Picture>({
  link: "opening",
  seq: 0,
  heard: 0,
  problem: "",
  round: 0,
  held: false,
  at: null,
  head: 0,
  noMoment: "",
  project: "",
  tasks: new Map(),
  agents: new Map(),
  frame: null,
  inbox: [],
  queue: null,
  radar: null,
})

/** A part of the picture. The component is drawn again when that part is another value. */
export function usePicture<Part>(select: (state: Picture) => Part): Part {
  const kept = useRef(select)
  kept.current = select
  const read = useCallback(() => kept.current(picture.get()), [])
  return useSyncExternalStore(picture.subscribe, read)
}
