/** Copy, and say so in the command bar. */
import { project } from "../api/client"

type Listener = (text: string) => void
const listeners = new Set<Listener>()

export function onCopied(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without permission or without TLS the browser keeps its clipboard; the text is selectable in the page.
    return
  }
  for (const listener of listeners) listener(text)
}

/** A link to this page at this position of the log. */
export function linkToMoment(seq: number): string {
  const url = new URL(location.href)
  url.hash = ""
  if (project()) url.searchParams.set("project", project())
  url.searchParams.set("at", String(seq))
  return url.href
}
