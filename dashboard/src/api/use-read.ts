import { useEffect, useRef, useState } from "react"
import { usePicture } from "../store/picture"
import { read, Refused } from "./client"

export interface Read<T> {
  data: T | null
  /** Why there is no (new) data. */
  error: string
  status: number
}

/** A number that changes when the server is there again after a read that failed. */
export function useAgain(failed: boolean): number {
  const round = usePicture(state => state.round)
  const kept = useRef({ round, again: 0 })
  if (failed && kept.current.round !== round) kept.current.again = round
  kept.current.round = round
  return kept.current.again
}

/**
 * A document of the API, read again when `version` changes; meanwhile the one before stays. Null path: nothing is
 * read. In a replay it is the document of that moment, where the route knows any; `ofNow`: never.
 */
export function useRead<T>(path: string | null, version: unknown = 0, ofNow = false): Read<T> {
  const shown = usePicture(state => state.at)
  const at = ofNow ? null : shown
  const [found, set] = useState<Read<T> & { path: string | null }>({
    path: null,
    data: null,
    error: "",
    status: 0,
  })
  const again = useAgain(found.error !== "")
  useEffect(() => {
    if (path === null) return
    const stop = new AbortController()
    read<T>(at === null ? path : `${path}${path.includes("?") ? "&" : "?"}at=${at}`, stop.signal).then(
      data => set({ path, data, error: "", status: 200 }),
      (error: unknown) => {
        if (stop.signal.aborted || !(error instanceof Error)) return
        const status = error instanceof Refused ? error.status : 0
        set(before => ({
          path,
          data: before.path === path ? before.data : null,
          error: error.message,
          status,
        }))
      },
    )
    return () => stop.abort()
  }, [path, version, again, at])
  return found.path === path ? found : { data: null, error: "", status: 0 }
}
