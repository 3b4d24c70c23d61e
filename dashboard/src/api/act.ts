/** Actions: each is a command of the terminal, sent to the server. */
import { useCallback, useRef, useState } from "react"
import { picture } from "../store/picture"
import { ofProject, Refused, Unreachable, write } from "./client"

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

const KEPT_MILLISECONDS = 10 * 60_000
/** Actions without an answer: pressed again, they are sent under the same key and done once. */
const unanswered = new Map<string, { key: string; since: number }>()

function keyOf(action: string): string {
  for (const [each, { since }] of unanswered)
    if (Date.now() - since > KEPT_MILLISECONDS) unanswered.delete(each)
  const key = unanswered.get(action)?.key
  return key ?? [...crypto.getRandomValues(new Uint32Array(4))].map(part => part.toString(36)).join("-")
}

async function sendOnce(name: string, body: Record<string, unknown>): Promise<Acted> {
  const action = ofProject(JSON.stringify([name, body]))
  const key = keyOf(action)
  unanswered.delete(action)
  try {
    return await write<Acted>(`/api/actions/${name}`, body, key)
  } catch (error) {
    if (error instanceof Unreachable) unanswered.set(action, { key, since: Date.now() })
    throw error
  }
}

/** One action at a time; what became of it stays until the next. */
export function useAct(): Act {
  const [told, tell] = useState<Omit<Act, "run" | "clear">>({ state: "idle", message: "", hint: "" })
  const busy = useRef(false)
  const run = useCallback(async (name: string, body: Record<string, unknown>) => {
    if (busy.current) return false
    if (picture.get().at !== null) {
      tell({ state: "refused", message: "this is a past moment", hint: "go back to live to act" })
      return false
    }
    busy.current = true
    tell({ state: "busy", message: "", hint: "" })
    try {
      const answer = await sendOnce(name, body)
      tell({ state: "done", message: answer.live ? "sent" : "noted for the next run", hint: answer.cli })
      return true
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error
      const hint =
        error instanceof Refused ? error.hint : "it may have arrived; press again, it is done only once"
      tell({ state: "refused", message: error.message, hint })
      return false
    } finally {
      busy.current = false
    }
  }, [])
  const clear = useCallback(() => tell({ state: "idle", message: "", hint: "" }), [])
  return { ...told, run, clear }
}
