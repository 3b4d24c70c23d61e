import { useEffect, useRef, useState } from "react"
import { read } from "../../api/client"
import { usePicture } from "../../store/picture"

/** A part of a file that may still grow. */
export interface Part<Row> {
  /** The rows of this part, in order. */
  rows: Row[]
  /** Where the next part begins. */
  next: number
  /** True: what came before this part is left out. */
  cut: boolean
}

export interface Growing<Row> {
  rows: Row[]
  cut: boolean
  ready: boolean
  error: string
}

const NONE = { rows: [], cut: false, ready: false, error: "" }
const POLL_MILLISECONDS = 1000

/** Read a growing file from its end; while `live`, look every second for what was added. */
export function useGrowing<Answer, Row>(
  path: string | null,
  live: boolean,
  part: (answer: Answer) => Part<Row>,
): Growing<Row> {
  const [found, set] = useState<Growing<Row> & { path: string | null }>({ ...NONE, path: null })
  const held = usePicture(state => state.held)
  const take = useRef(part)
  take.current = part
  const at = useRef<{ path: string; next: number } | null>(null)
  useEffect(() => {
    if (path === null || (held && at.current?.path === path)) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const look = async () => {
      const known = at.current?.path === path ? at.current.next : null
      try {
        const answer = await read<Answer>(
          known === null ? path : `${path}${path.includes("?") ? "&" : "?"}after=${known}`,
          stop.signal,
        )
        const { rows, next, cut } = take.current(answer)
        at.current = { path, next }
        if (known === null) set({ path, rows, cut, ready: true, error: "" })
        else if (rows.length) set(before => ({ ...before, rows: [...before.rows, ...rows], error: "" }))
      } catch (error) {
        if (stop.signal.aborted || !(error instanceof Error)) return
        const { message } = error
        set(before =>
          before.path === path
            ? { ...before, error: message }
            : { ...NONE, path, ready: true, error: message },
        )
      }
      if (live && !stop.signal.aborted)
        timer = setTimeout(() => void look(), document.hidden ? 5 * POLL_MILLISECONDS : POLL_MILLISECONDS)
    }
    void look()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [path, live, held])
  return found.path === path ? found : NONE
}
