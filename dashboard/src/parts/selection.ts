import { useEffect, useRef, useState } from "react"
import { useKeys } from "../frame/keys"

/** One selected entry of a list, moved with j and k. An entry that goes away hands over to its neighbour. */
export function useSelection(
  ids: string[],
  first: string | null = null,
): [string | null, (id: string) => void] {
  const [wanted, select] = useState<string | null>(first)
  const place = useRef(0)
  const at = wanted === null ? -1 : ids.indexOf(wanted)
  const index = at >= 0 ? at : Math.min(place.current, ids.length - 1)
  const selected = ids[index] ?? null
  useEffect(() => {
    if (index >= 0) place.current = index
  }, [index])
  const move = (step: number) => {
    const next = ids[Math.min(ids.length - 1, Math.max(0, index + step))]
    if (next === undefined) return
    select(next)
    document.querySelector(`[data-entry="${CSS.escape(next)}"]`)?.scrollIntoView({ block: "nearest" })
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
  return [selected, select]
}
