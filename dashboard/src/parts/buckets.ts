/** The seven groups in which tasks are counted, in the order of Now; the server says which task is in which. */
import type { Bucket, TaskRow } from "../api/types"
import type { Mark } from "./glyph"

export const BUCKETS: Record<Bucket, { title: string; mark: Mark }> = {
  landed: { title: "Landed", mark: "landed" },
  train: { title: "In the train", mark: "checking" },
  working: { title: "Working", mark: "running" },
  needs_you: { title: "Needs you", mark: "needs" },
  ready: { title: "Ready", mark: "waiting" },
  blocked: { title: "Blocked", mark: "blocked" },
  failed: { title: "Failed", mark: "failed" },
}

export const ORDER = Object.keys(BUCKETS) as Bucket[]

export function markOf(row: TaskRow): Mark {
  return row.state === "cancelled" ? "cancelled" : BUCKETS[row.bucket].mark
}

/** The tasks of each group, in the order of the graph. */
export function inBuckets(rows: Iterable<TaskRow>): Record<Bucket, TaskRow[]> {
  const found = Object.fromEntries(ORDER.map(bucket => [bucket, [] as TaskRow[]])) as Record<
    Bucket,
    TaskRow[]
  >
  for (const row of rows) found[row.bucket].push(row)
  return found
}
