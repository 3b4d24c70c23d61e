import { Link } from "wouter"
import type { ExplainDocument } from "../api/types"
import { useRead } from "../api/use-read"
import { Cli } from "./command"
import { Skeleton } from "./empty"
import { Inert } from "./inert"

/** Why a task stands where it does: each line is the cause of the one above it. */
export function Explanation({ task, version }: { task: string; version: unknown }) {
  const { data, error } = useRead<ExplainDocument>(`/api/tasks/${encodeURIComponent(task)}/explain`, version)
  if (!data) return error ? <p className="dim t12">{error}</p> : <Skeleton rows={3} />
  return (
    <div className="explain" role="group" aria-label={`Why ${task} stands where it does`}>
      <ol>
        {data.causes.map((cause, index) => (
          // A cause has no other name than its place.
          <li key={index} style={{ paddingLeft: Math.min(cause.depth, 8) * 12 }}>
            {cause.task && cause.task !== task && (
              <Link className="id link" href={`/tasks/${encodeURIComponent(cause.task)}`}>
                {cause.task}
              </Link>
            )}{" "}
            <Inert text={cause.text} max={1000} />
          </li>
        ))}
      </ol>
      <Cli line={`interlock explain ${task}`} />
    </div>
  )
}
