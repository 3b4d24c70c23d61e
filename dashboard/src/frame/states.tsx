import { Link } from "wouter"
import { Cli } from "../parts/command"

/** The server wants a token that this browser does not have. */
export function Denied() {
  return (
    <div className="empty stack">
      <h1 className="t13 semi">This page needs a token</h1>
      <p>The server gives it out in the address that it prints. Open that address, or print it again:</p>
      <Cli line="interlock ui --print-url" />
    </div>
  )
}

export function NoView() {
  return (
    <div className="empty stack">
      <h1 className="t13 semi">There is no such page</h1>
      <p>
        <Link className="link" href="/">
          Now
        </Link>{" "}
        shows the run. ⌘K finds a task.
      </p>
    </div>
  )
}
