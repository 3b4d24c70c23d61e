/** What the states of a change in the train are called, and how they are drawn. */
import type { QueueCheck, QueueRow } from "../../api/types"
import type { Mark } from "../../parts/glyph"
import { lasting } from "../../parts/time"

export interface Standing {
  mark: Mark
  /** The line beside it: to main, or dashed to changes that are not on main yet. */
  rail: "" | "direct" | "spec" | "red"
  words: string
}

function onTop(on: readonly string[]): string {
  if (on.length === 0) return "on top of main"
  return `on top of ${on[on.length - 1]}${on.length > 1 ? ` and ${on.length - 1} more` : ""}`
}

export function standingOf(row: QueueRow): Standing {
  switch (row.state) {
    case "landing":
      return { mark: "checking", rail: "direct", words: "passed, lands next" }
    case "checking":
      return {
        mark: "checking",
        rail: "direct",
        words: row.held ? "held after these checks" : "checked on top of main",
      }
    case "building":
      return { mark: "spec", rail: "spec", words: onTop(row.on) }
    case "built":
      return { mark: "spec", rail: row.on.length ? "spec" : "direct", words: `passed ${onTop(row.on)}` }
    case "failed-early":
      return { mark: "failed", rail: "red", words: `failed ${onTop(row.on)}` }
    case "held":
      return { mark: "needs", rail: "", words: "held by a person" }
    case "in-review":
      return { mark: "needs", rail: "", words: "waits for review" }
    default:
      return {
        mark: "waiting",
        rail: "",
        words: row.place === 1 ? "first in the queue" : `its turn: ${row.place - 1} ahead`,
      }
  }
}

export function waitsForPerson(row: QueueRow): boolean {
  return row.held || row.state === "in-review"
}

/** What became of a check, in a few words. */
export function checkWords(check: QueueCheck, now: number): string {
  const expected = check.expected_seconds
  switch (check.state) {
    case "running": {
      const seconds = Math.max(0, now - (check.since ?? now))
      return expected ? `${lasting(seconds)} of ~${lasting(expected)}` : lasting(seconds)
    }
    case "passed":
      return lasting(check.seconds ?? 0)
    case "failed":
      return `failed, ${lasting(check.seconds ?? 0)}`
    case "known-red":
      return "red on main too"
    case "reused":
      return "reused"
    case "ended":
      return "ran"
    default:
      return expected ? `~${lasting(expected)}` : ""
  }
}
