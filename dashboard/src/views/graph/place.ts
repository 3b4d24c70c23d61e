/** Where each task of the plan is drawn: what is around the work under way, around one task, or the whole. */
import type { Node } from "../../api/types"

export type Mode = "front" | "around" | "whole"

export interface Placed {
  node: Node
  x: number
  y: number
}

export interface Drawing {
  placed: Map<string, Placed>
  heads: { x: number; title: string }[]
  width: number
  height: number
  /** Tasks under way for which nothing waits: they are only counted. */
  alone: number
  /** Tasks that would make the drawing too large. */
  left: number
}

export const NODE = { width: 180, height: 34 }
const STEP = { x: 218, y: 44 }
const TOP = 36
const LEFT = 14
const MOST = 60
/** More than this answers no question; the whole plan is one click away. */
const OPEN = ["needs_you", "working", "train", "ready", "failed"]

export interface Plan {
  nodes: Map<string, Node>
  users: Map<string, string[]>
}

export function planOf(nodes: Node[]): Plan {
  const users = new Map<string, string[]>(nodes.map(node => [node.id, []]))
  for (const node of nodes) for (const need of node.needs) users.get(need)?.push(node.id)
  return { nodes: new Map(nodes.map(node => [node.id, node])), users }
}

/** Put columns of tasks side by side, each task as near as possible to the middle of what it hangs together with. */
function inColumns(plan: Plan, columns: { title: string; names: string[] }[]): Drawing {
  const placed = new Map<string, Placed>()
  const heads: { x: number; title: string }[] = []
  let height = 0
  columns.forEach((column, index) => {
    const x = LEFT + index * STEP.x
    if (column.names.length) heads.push({ x, title: column.title })
    const wanted = column.names.map((name, at) => {
      const node = plan.nodes.get(name)
      const beside = (node?.needs ?? []).map(need => placed.get(need)?.y).filter(y => y !== undefined)
      const middle = beside.length ? beside.reduce((sum, y) => sum + y, 0) / beside.length : TOP + at * STEP.y
      return { node, middle }
    })
    wanted.sort((a, b) => a.middle - b.middle)
    let next = TOP
    for (const { node, middle } of wanted) {
      if (!node) continue
      const y = Math.max(next, Math.min(middle, next + 3 * STEP.y))
      placed.set(node.id, { node, x, y })
      next = y + STEP.y
      height = Math.max(height, next)
    }
  })
  return { placed, heads, width: LEFT + columns.length * STEP.x, height, alone: 0, left: 0 }
}

const inOrder = (plan: Plan, names: Iterable<string>) =>
  [...names].sort((a, b) => {
    const [one, other] = [plan.nodes.get(a), plan.nodes.get(b)]
    return (one?.layer ?? 0) - (other?.layer ?? 0) || (one?.place ?? 0) - (other?.place ?? 0)
  })

/** What is under way and holds others up, what it stands on, and two hops of what waits for it. */
export function front(plan: Plan, critical: string[]): Drawing {
  const open = [...plan.nodes.values()].filter(node => OPEN.includes(node.bucket))
  const waits = (name: string) =>
    (plan.users.get(name) ?? []).filter(user => plan.nodes.get(user)?.bucket === "blocked")
  const weight = (name: string) => (critical.includes(name) ? 1000 : 0) + waits(name).length
  const holding = open.filter(node => waits(node.id).length > 0).map(node => node.id)
  holding.sort((a, b) => weight(b) - weight(a))
  const shown = new Set<string>()
  const hops: string[][] = [[], [], []]
  let left = 0
  for (const name of holding) {
    const near = waits(name).filter(each => !shown.has(each))
    const far = near.flatMap(waits).filter(each => !shown.has(each))
    const wanted = new Set([name, ...near, ...far])
    if (shown.size + wanted.size > MOST) {
      left += 1
      continue
    }
    for (const [hop, names] of [[name], near, far].entries())
      for (const each of names)
        if (!shown.has(each)) {
          shown.add(each)
          hops[hop]?.push(each)
        }
  }
  const under = new Set<string>()
  for (const name of hops[0] ?? [])
    for (const need of plan.nodes.get(name)?.needs ?? [])
      if (plan.nodes.get(need)?.bucket === "landed" && under.size < 12) under.add(need)
  const drawing = inColumns(
    plan,
    [
      { title: "landed", names: inOrder(plan, under) },
      { title: "under way, holding others up", names: hops[0] ?? [] },
      { title: "1 hop away", names: hops[1] ?? [] },
      { title: "2 hops away", names: hops[2] ?? [] },
    ].filter(column => column.names.length > 0),
  )
  return { ...drawing, alone: open.length - holding.length, left }
}

/** One task with two hops to each side. */
export function around(plan: Plan, name: string): Drawing {
  const needs = (each: string) => [...(plan.nodes.get(each)?.needs ?? [])]
  const users = (each: string) => plan.users.get(each) ?? []
  const seen = new Set([name])
  const next = (names: string[], step: (each: string) => string[]) => {
    const found = [...new Set(names.flatMap(step))].filter(each => !seen.has(each))
    for (const each of found) seen.add(each)
    return found
  }
  const before = next([name], needs)
  const after = next([name], users)
  const farBefore = next(before, needs)
  const farAfter = next(after, users)
  const cut = (names: string[]) => inOrder(plan, names).slice(0, MOST / 2)
  const drawing = inColumns(
    plan,
    [
      { title: "2 hops before", names: cut(farBefore) },
      { title: "needed by it", names: cut(before) },
      { title: "", names: [name] },
      { title: "waits for it", names: cut(after) },
      { title: "2 hops after", names: cut(farAfter) },
    ].filter(column => column.names.length > 0),
  )
  return { ...drawing, left: seen.size - drawing.placed.size }
}

/** All tasks, as the server laid them out. */
export function whole(plan: Plan): Drawing {
  const placed = new Map<string, Placed>()
  let [width, height, layers] = [0, 0, 0]
  for (const node of plan.nodes.values()) {
    const [x, y] = [LEFT + node.layer * STEP.x, TOP + node.place * STEP.y]
    placed.set(node.id, { node, x, y })
    width = Math.max(width, x + STEP.x)
    height = Math.max(height, y + STEP.y)
    layers = Math.max(layers, node.layer + 1)
  }
  const heads = Array.from({ length: layers }, (_, layer) => ({
    x: LEFT + layer * STEP.x,
    title: layer === 0 ? "needs nothing" : `layer ${layer + 1}`,
  }))
  return { placed, heads, width, height, alone: 0, left: 0 }
}

/** The next task in a direction: along an edge to the sides, within the column up and down. */
export function hop(drawing: Drawing, plan: Plan, from: string, key: string): string | null {
  const here = drawing.placed.get(from)
  if (!here) return drawing.placed.keys().next().value ?? null
  const near = (names: Iterable<string>) => {
    const found = [...names].map(name => drawing.placed.get(name)).filter(each => each !== undefined)
    found.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y))
    return found[0]?.node.id ?? null
  }
  if (key === "ArrowLeft") return near(here.node.needs)
  if (key === "ArrowRight") return near(plan.users.get(from) ?? [])
  const down = key === "ArrowDown"
  const column = [...drawing.placed.values()].filter(
    each => each.x === here.x && (down ? each.y > here.y : each.y < here.y),
  )
  return near(column.map(each => each.node.id))
}
