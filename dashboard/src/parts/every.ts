/** When to read a document again that the stream does not carry. */
import { useEffect, useRef, useState } from "react"
import { picture, usePicture } from "../store/picture"

/** The position in the log, taken over at most once in so many seconds; it stands still while the view is paused. */
export function useCalmSeq(seconds: number): number {
  const seq = usePicture(state => state.seq)
  const [calm, set] = useState(seq)
  const taken = useRef(0)
  useEffect(() => {
    if (seq === calm) return
    const wait = Math.max(0, taken.current + seconds * 1000 - performance.now())
    const timer = setTimeout(() => {
      taken.current = performance.now()
      set(picture.get().seq)
    }, wait)
    return () => clearTimeout(timer)
  }, [seq, calm, seconds])
  return calm
}

/** A number that grows every so many seconds, for what changes without a fact: not in a hidden tab or a paused view. */
export function useEvery(seconds: number): number {
  const [count, set] = useState(0)
  useEffect(() => {
    const look = () => !document.hidden && !picture.get().held && set(before => before + 1)
    const timer = setInterval(look, seconds * 1000)
    return () => clearInterval(timer)
  }, [seconds])
  return count
}
