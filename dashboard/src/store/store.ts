/** The one state of the page, outside React. Many changes, one notification per animation frame. */

type Listener = () => void
const HIDDEN_MILLISECONDS = 1000

export class Store<State extends object> {
  private listeners = new Set<Listener>()
  private waiting = false

  constructor(private state: State) {}

  get = (): State => this.state

  /** Replace some parts. Listeners hear of it with the next frame, or each second in a hidden tab. */
  set(change: Partial<State>) {
    this.state = { ...this.state, ...change }
    if (this.waiting) return
    this.waiting = true
    if (document.hidden) setTimeout(this.notify, HIDDEN_MILLISECONDS)
    else requestAnimationFrame(this.notify)
  }

  subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  private notify = () => {
    this.waiting = false
    for (const listener of this.listeners) listener()
  }
}
