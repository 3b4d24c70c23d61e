import { useMemo, useState } from "react"
import { useLocation, useSearchParams } from "wouter"
import type { GraphDocument, Node } from "../../api/types"
import { useRead } from "../../api/use-read"
import { useKeys } from "../../frame/keys"
import { Empty, Skeleton } from "../../parts/empty"
import { useCalmSeq } from "../../parts/every"
import { counted } from "../../parts/time"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import { Canvas } from "./canvas"
import { around, front, hop, type Mode, planOf, whole } from "./place"
import { Side, Stories } from "./side"
import "./graph.css"

const READ_EVERY_SECONDS = 3
const MODES: [Mode, string][] = [
  ["front", "Holding others up"],
  ["around", "Around one task"],
  ["whole", "Whole plan"],
]

/** The plan with the groups of the tasks as the page knows them now; the drawing itself moves only with the plan. */
function useNodes(document: GraphDocument | null): Node[] {
  const tasks = usePicture(state => state.tasks)
  return useMemo(
    () =>
      (document?.nodes ?? []).map(node => ({ ...node, bucket: tasks.get(node.id)?.bucket ?? node.bucket })),
    [document, tasks],
  )
}

function Page() {
  const version = useCalmSeq(READ_EVERY_SECONDS)
  const { data, error } = useRead<GraphDocument>("/api/graph", version)
  const nodes = useNodes(data)
  const [search, setSearch] = useSearchParams()
  const [, go] = useLocation()
  const story = search.get("story") ?? ""
  const plan = useMemo(
    () => planOf(story ? nodes.filter(node => node.story === story) : nodes),
    [nodes, story],
  )
  const critical = useMemo(() => [...(data?.critical ?? [])], [data])
  const [wanted, setMode] = useState<Mode | null>(null)
  const blocked = nodes.filter(node => node.bucket === "blocked").length
  const frontier = useMemo(() => front(plan, critical), [plan, critical])
  // Where nothing is held up there is no frontier: then the plan itself is what there is to see.
  const mode = wanted ?? (story || frontier.placed.size === 0 ? "whole" : "front")
  const [chosen, choose] = useState<string | null>(search.get("task"))
  const [middle, setMiddle] = useState<string | null>(search.get("task"))
  const first =
    critical.find(name => frontier.placed.has(name)) ?? frontier.placed.keys().next().value ?? null
  const selected = chosen !== null && plan.nodes.has(chosen) ? chosen : first
  const center = middle ?? selected
  const drawing = useMemo(
    () => (mode === "whole" || !center ? whole(plan) : mode === "front" ? frontier : around(plan, center)),
    [mode, plan, frontier, center],
  )
  const show = (next: Mode) => {
    setMiddle(selected)
    setMode(next)
  }
  const move = (key: string) => () => {
    const next = selected ? hop(drawing, plan, selected, key) : null
    if (next) choose(next)
  }
  const at = usePicture(state => state.at)
  useKeys({
    // In a replay the arrows to the sides move in time, on every page.
    ...(at === null && { ArrowLeft: move("ArrowLeft"), ArrowRight: move("ArrowRight") }),
    ArrowUp: move("ArrowUp"),
    ArrowDown: move("ArrowDown"),
    f: () => show("around"),
    x: () => show("whole"),
    "↵": () => selected && go(`/tasks/${encodeURIComponent(selected)}`),
  })
  if (!data) return error ? <Empty title={error} line="interlock plan" /> : <Skeleton rows={10} />
  if (!nodes.length)
    return (
      <>
        <h1 className="vh">Graph</h1>
        <Empty title="No tasks yet" line="interlock plan">
          The tasks of task-graph.yaml and what each needs are drawn here with the first run.
        </Empty>
      </>
    )
  return (
    <>
      <div className="hdr gh1 row wrap">
        <h1>Graph</h1>
        <span className="dim t12">
          {mode === "front"
            ? `What holds up ${counted(blocked, "blocked task")}; landed work is folded`
            : mode === "around"
              ? `Two hops around ${center ?? ""}`
              : `${counted(plan.nodes.size, "task")}${story ? ` of ${story}` : ""}, each right of what it needs`}
          {drawing.left > 0 && `; ${drawing.left} more in the whole plan`}
        </span>
        <span className="sp" />
        {story && (
          <button type="button" className="btn" onClick={() => setSearch({})}>
            All stories
          </button>
        )}
        <div className="seg" role="group" aria-label="Part of the plan">
          {MODES.map(([name, title]) => (
            <button key={name} type="button" aria-pressed={name === mode} onClick={() => show(name)}>
              {title}
            </button>
          ))}
        </div>
      </div>
      <div className="gw">
        <div className="gmain">
          {mode === "front" && (
            <Stories
              nodes={nodes}
              open={name => {
                setMode(null)
                setSearch({ story: name })
              }}
            />
          )}
          <Canvas
            key={`${mode} ${mode === "around" ? center : story}`}
            drawing={drawing}
            plan={plan}
            critical={critical}
            selected={selected}
            onSelect={choose}
          />
        </div>
        <Side selected={selected} alone={mode === "front" ? drawing.alone : 0} critical={critical} />
      </div>
    </>
  )
}

export const graph: View = {
  name: "graph",
  title: "Graph",
  path: "/graph",
  icon: "graph",
  key: "g",
  command: "interlock plan",
  keys: [
    ["← → ↑ ↓", "hop"],
    ["f", "around it"],
    ["x", "whole plan"],
    ["↵", "open"],
  ],
  flush: true,
  Page,
}
