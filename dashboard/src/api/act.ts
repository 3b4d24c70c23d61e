/** Actions: each is a command of the terminal, sent to the server. */
import { useCallback, useRef, useState } from "react"
import { Refused, Unreachable, write } from "./client"

interface Acted {
  /** The command line that does the same. */
  cli: string
  live: boolean
}

export interface Act {
  state: "idle" | "busy" | "done" | "refused"
  message: string
  hint: string
  run: (name: string, body: Record<string, unknown>) => Promise<boolean>
  clear: () => void
}

/** One action at a time; what became of it stays until the next. */
export function useAct(): Act {
  const [told, tell] = useState<Omit<Act, "run" | "clear">>({ state: "idle", message: "", hint: "" })
  const busy = useRef(false)
  const run = useCallback(async (name: string, body: Record<string, unknown>) => {
    if (busy.current) return false
    busy.current = true
    tell({ state: "busy", message: "", hint: "" })
    try {
      const answer = await write<Acted>(`/api/actions/${name}`, body)
      tell({ state: "done", message: answer.live ? "sent" : "noted for the next run", hint: answer.cli })
      return true
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error
      const hint = error instanceof Refused ? error.hint : "nothing was sent; try again"
      tell({ state: "refused", message: error.message, hint })
      return false
    } finally {
      busy.current = false
    }
  }, [])
  const clear = useCallback(() => tell({ state: "idle", message: "", hint: "" }), [])
  return { ...told, run, clear }
}
