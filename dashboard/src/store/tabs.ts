/**
 * The tabs of one browser share one stream: a browser has six connections to a server, and a seventh tab with a
 * stream of its own would wait for ever. One tab leads; it passes on what it hears. When it is closed, another leads.
 */
import { project } from "../api/client"

/** An event of the stream, or `lost`: the stream broke. */
export interface Heard {
  name: "change" | "alive" | "resnapshot" | "lost"
  data: string
}

/** Call `lead` when this tab leads, and `hear` for each event of a tab that leads. Returns how to pass events on. */
export function shareTabs(lead: () => void, hear: (heard: Heard) => void): (heard: Heard) => void {
  if (!("locks" in navigator)) {
    lead()
    return () => {}
  }
  const name = `interlock ${project()}`
  const channel = new BroadcastChannel(name)
  channel.onmessage = event => hear(event.data as Heard)
  void navigator.locks.request(name, () => {
    lead()
    return new Promise(() => {})
  })
  return heard => channel.postMessage(heard)
}
