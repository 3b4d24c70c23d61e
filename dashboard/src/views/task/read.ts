/** What the task's page reads beside the stream. */
import { useRead } from "../../api/use-read"
import type { TaskDocument } from "../../api/types"
import { usePicture } from "../../store/picture"

export interface SessionEvent {
  kind: string
  text?: string
  session?: string
  model?: string
  call?: string
  tool?: string
  path?: string
  ok?: boolean
  exit_code?: number | null
  error?: string | null
}

const at = (task: string, rest = "") => `/api/tasks/${encodeURIComponent(task)}${rest}`

/** A version that changes whenever the row of the task does. */
export function useVersion(task: string): unknown {
  return usePicture(state => state.tasks.get(task))
}

export function useTask(task: string) {
  return useRead<TaskDocument>(at(task), useVersion(task))
}
