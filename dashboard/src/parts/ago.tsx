import { clockWithSeconds, lasting, useNow } from "./time"

/** The age of a moment, ticking: `41 s`. */
export function Ago({ since }: { since: number }) {
  const now = useNow()
  return <time title={clockWithSeconds(since)}>{lasting(now - since)}</time>
}
