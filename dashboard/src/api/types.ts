/** The documents of the API, under the names that the views use. Generated from openapi.json: they cannot drift. */
import type { Change, Snapshot, TaskRow } from "./schema"

export type * from "./schema"
export type Bucket = TaskRow["bucket"]
export type Reason = TaskRow["reason"]
/** What the stream sends: the whole at first, then what changed. */
export type Update = Snapshot | Change
/** A provider as `frame.clutch.providers` has it. */
export interface Provider {
  limit?: number | null
  why?: Reason | null
}
