import { useEffect, useRef, useState } from "react"
import { read } from "../../api/client"
import { useAgain } from "../../api/use-read"
import { usePicture } from "../../store/picture"

/** A part of a file that may still grow. */
interface Part {
  size: number
  offset: number
  next: number
  text: string
}

export interface Growing<Row> {
  rows: Row[]
  /** True: what came before is left out. */
  cut: boolean
  ready: boolean
  error: string
}

const NONE = { rows: [], cut: false, ready: false, error: "" }
const POLL_MILLISECONDS = 1000
const PART_BYTES = 256 * 1024

/** Read a growing file from near its end; while `live`, look every second for what was added. */
export function useGrowing<Row>(
  path: string | null,
  live: boolean,
  rowsOf: (text: string) => Row[],
): Growing<Row> {
  const [found, set] = useState<Growing<Row> & { path: string | null }>({ ...NONE, path: null })
  const held = usePicture(state => state.held)
  const take = useRef(rowsOf)
  take.current = rowsOf
  const again = useAgain(found.error !== "")
  const at = useRef<{ path: string; next: number } | null>(null)
  useEffect(() => {
    if (path === null || (held && at.current?.path === path)) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const look = async () => {
      const known = at.current?.path === path ? at.current.next : null
      try {
        const url = `${path}&offset=${known ?? -PART_BYTES}&limit=${PART_BYTES}`
        const part = await read<Part>(url, stop.signal)
        const rows = take.current(part.text)
        at.current = { path, next: part.next }
        if (known === null) set({ path, rows, cut: part.offset > 0, ready: true, error: "" })
        else
          set(before =>
            rows.length || before.error ? { ...before, rows: [...before.rows, ...rows], error: "" } : before,
          )
        if (part.next > (known ?? -1) && part.next < part.size && part.text) {
          void look()
          return
        }
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
  }, [path, live, held, again])
  return found.path === path ? found : NONE
}
