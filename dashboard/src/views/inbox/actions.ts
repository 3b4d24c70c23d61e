/** What can be done about each kind of item: the button, its key, its command, and the action of the API. */
import type { Item } from "../../api/types"

export interface Choice {
  label: string
  hotkey: string
  /** The command line that does the same. */
  line: string
  kind?: "pri" | "bad"
  /** The action and its parameters; none: it opens a page. */
  act?: [name: string, body: Record<string, unknown>]
  /** The parameter that a person writes, and what to write. */
  asks?: { field: string; placeholder: string; send: string }
  open?: string
}

const page = (item: Item, label = "Open the task", pane = ""): Choice => ({
  label,
  hotkey: "o",
  line: `interlock show ${item.task}`,
  open: `/tasks/${encodeURIComponent(item.task)}${pane}`,
})

function question(item: Item): Choice[] {
  const { task } = item
  return [
    {
      label: "Answer",
      hotkey: "a",
      kind: "pri",
      line: `interlock answer ${task} "..."`,
      act: ["answer", { task }],
      asks: { field: "text", placeholder: "Your answer to the agent", send: "Send the answer" },
    },
    page(item, "Read the conversation"),
    {
      label: "Cancel the task",
      hotkey: "x",
      kind: "bad",
      line: `interlock cancel ${task}`,
      act: ["cancel", { tasks: [task] }],
    },
  ]
}

function permission(item: Item): Choice[] {
  const { task } = item
  return [
    {
      label: "Allow",
      hotkey: "a",
      kind: "pri",
      line: `interlock answer ${task} allow`,
      act: ["answer", { task, text: "allow" }],
    },
    {
      label: "Deny",
      hotkey: "r",
      line: `interlock answer ${task} deny`,
      act: ["answer", { task, text: "deny" }],
    },
    page(item),
  ]
}

/** `change`: the digest of the change that the person has before them; another one is not decided. */
function review(item: Item, change = ""): Choice[] {
  const { task } = item
  const seen = change ? { change } : {}
  return [
    {
      label: "Approve",
      hotkey: "a",
      kind: "pri",
      line: `interlock approve ${task}`,
      act: ["approve", { tasks: [task], ...seen }],
    },
    {
      label: "Send back",
      hotkey: "r",
      line: `interlock reject ${task} -m "..."`,
      act: ["reject", { task, ...seen }],
      asks: { field: "note", placeholder: "Why, for its next attempt", send: "Send it back" },
    },
    {
      label: "Open the diff",
      hotkey: "d",
      line: `interlock review ${task}`,
      open: `/tasks/${encodeURIComponent(task)}?pane=diff`,
    },
  ]
}

function failed(item: Item): Choice[] {
  const { task } = item
  return [
    {
      label: "Retry",
      hotkey: "a",
      kind: "pri",
      line: `interlock retry ${task}`,
      act: ["retry", { tasks: [task] }],
    },
    {
      label: "Retry with advice",
      hotkey: "e",
      line: `interlock retry ${task} -m "..."`,
      act: ["retry", { tasks: [task] }],
      asks: { field: "why", placeholder: "What the next attempt should know", send: "Retry" },
    },
    { ...page(item, "Look at what failed"), line: `interlock explain ${task}` },
    {
      label: "Cancel the task",
      hotkey: "x",
      kind: "bad",
      line: `interlock cancel ${task}`,
      act: ["cancel", { tasks: [task] }],
    },
  ]
}

function paused(item: Item): Choice[] {
  const name = item.task ? ` ${item.task}` : ""
  const body = item.task ? { task: item.task } : {}
  return [
    { label: "Unpause", hotkey: "a", kind: "pri", line: `interlock unpause${name}`, act: ["unpause", body] },
  ]
}

function overlap(item: Item): Choice[] {
  const { task } = item
  return [
    {
      label: "Tell its agent",
      hotkey: "e",
      kind: "pri",
      line: `interlock say ${task} "..."`,
      act: ["say", { task }],
      asks: { field: "text", placeholder: "A message to the agent", send: "Send" },
    },
    page(item),
    {
      label: `Cancel ${task}`,
      hotkey: "x",
      kind: "bad",
      line: `interlock cancel ${task}`,
      act: ["cancel", { tasks: [task] }],
    },
  ]
}

/** A task that an agent proposed: the item is called PARENT/ID. */
function proposal(item: Item): Choice[] {
  const body = { proposal: item.id }
  return [
    { label: "Accept", hotkey: "a", kind: "pri", line: `interlock accept ${item.id}`, act: ["accept", body] },
    {
      label: "Decline",
      hotkey: "r",
      line: `interlock accept --decline ${item.id}`,
      act: ["accept", { ...body, decline: true }],
    },
    page(item, "Open the task that proposed it"),
  ]
}

/** `interlock undo X` and the like: the command is the server's own. */
function redMain(item: Item): Choice[] {
  const line = item.next[0] ?? "interlock status"
  const words = line.split(" ")
  const target = words[1] === "undo" && words.length === 3 ? words[2] : undefined
  return [
    ...(target
      ? [
          {
            label: `Undo ${target}`,
            hotkey: "a",
            kind: "pri" as const,
            line,
            act: ["undo", { targets: [target] }] as [string, Record<string, unknown>],
          },
        ]
      : []),
    { label: "Look at the train", hotkey: "o", line: "interlock queue", open: "/train" },
  ]
}

const KINDS: Record<string, (item: Item, change: string) => Choice[]> = {
  question,
  permission,
  review,
  failed,
  paused,
  overlap,
  proposal,
  "red-main": redMain,
}

export function choices(item: Item, change = ""): Choice[] {
  return KINDS[item.kind]?.(item, change) ?? (item.task ? [page(item)] : [])
}

const GROUPS: [title: string, kinds: string[]][] = [
  ["Stops everyone", ["red-main"]],
  ["Holds an agent", ["question", "permission"]],
  ["To review", ["review", "pull-request"]],
  ["Failed", ["failed"]],
]

export function groupOf(item: Item): string {
  return GROUPS.find(([, kinds]) => kinds.includes(item.kind))?.[0] ?? "To decide"
}

export const GROUP_ORDER = [...GROUPS.map(([title]) => title), "To decide"]

export function titleOf(item: Item): [before: string, task: string, after: string] {
  const { task } = item
  if (item.kind === "red-main") return ["main is red", "", ""]
  if (item.kind === "question") return ["", task, " asks"]
  if (item.kind === "permission") return ["", task, " asks permission"]
  if (item.kind === "review") return ["Review ", task, ""]
  if (item.kind === "failed") return ["", task, " failed"]
  if (item.kind === "pull-request") return ["Pull request of ", task, ""]
  if (item.kind === "proposal") return ["", task, " proposes a task"]
  if (item.kind === "paused") return task ? ["", task, " is paused"] : ["The run is paused", "", ""]
  if (item.kind === "overlap") return ["", task, " overlaps"]
  if (item.kind === "held-up") return ["", task, " cannot land"]
  return ["", task, ` ${item.kind}`]
}
