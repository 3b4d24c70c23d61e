import type { ReactNode } from "react"
import { useEffect, useState } from "react"
import { Cli } from "./command"

/** Nothing to show: why, and what to do next. */
export function Empty(props: { title: string; children?: ReactNode; line?: string }) {
  return (
    <div className="empty stack">
      <b>{props.title}</b>
      {props.children && <p>{props.children}</p>}
      {props.line && <Cli line={props.line} />}
    </div>
  )
}

const PATIENCE_MILLISECONDS = 200

/** Grey rows for what is on its way. Not drawn for the first 200 ms: most answers come sooner. */
export function Skeleton({ rows }: { rows: number }) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [])
  if (!shown) return null
  return (
    <div role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <i key={row} className="skel" style={{ width: `${88 - ((row * 17) % 43)}%` }} />
      ))}
    </div>
  )
}
