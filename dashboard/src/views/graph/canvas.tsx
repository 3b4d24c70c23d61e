import { useEffect, useLayoutEffect, useRef, useState } from "react"
import type { Node } from "../../api/types"
import { BUCKETS } from "../../parts/buckets"
import { Glyph } from "../../parts/glyph"
import { clock, lasting } from "../../parts/time"
import { usePicture } from "../../store/picture"
import { type Drawing, NODE, type Placed, type Plan } from "./place"

/** Pixels around the window that are drawn, too. */
const SPARE = 300
const WORDS: Partial<Record<Node["bucket"], string>> = {
  needs_you: "asks",
  train: "checked",
  ready: "queued",
  failed: "failed",
}

function About({ node }: { node: Node }) {
  const since = usePicture(state => state.tasks.get(node.id)?.since ?? 0)
  if (node.bucket === "landed") return <i>{since ? clock(since).slice(-5) : ""}</i>
  const word = WORDS[node.bucket]
  if (word) return <i>{word}</i>
  return <i>{(node.expected_seconds ?? 0) >= 1 ? `~${lasting(node.expected_seconds ?? 0)}` : ""}</i>
}

/** The part of the drawing that is in the window. */
function useWindow() {
  const ref = useRef<HTMLDivElement>(null)
  const [seen, set] = useState({ left: 0, top: 0, right: 2000, bottom: 1200 })
  useLayoutEffect(() => {
    const box = ref.current
    if (!box) return
    const look = () =>
      set({
        left: box.scrollLeft - SPARE,
        top: box.scrollTop - SPARE,
        right: box.scrollLeft + box.clientWidth + SPARE,
        bottom: box.scrollTop + box.clientHeight + SPARE,
      })
    look()
    const watch = new ResizeObserver(look)
    watch.observe(box)
    box.addEventListener("scroll", look, { passive: true })
    return () => {
      watch.disconnect()
      box.removeEventListener("scroll", look)
    }
  }, [])
  return { ref, seen }
}

function edge(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2]
  const [x2, y2] = [to.x, to.y + NODE.height / 2]
  const bend = Math.max(24, (x2 - x1) / 2)
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

/** The drawing: tasks as boxes, needs as lines from left to right. Only what is in the window is in the page. */
export function Canvas(props: {
  drawing: Drawing
  plan: Plan
  critical: string[]
  selected: string | null
  onSelect: (name: string) => void
}) {
  const { drawing, critical, selected } = props
  const { ref, seen } = useWindow()
  const at = selected === null ? undefined : drawing.placed.get(selected)
  const [x, y] = [at?.x, at?.y]
  useEffect(() => {
    const box = ref.current
    if (!box || x === undefined || y === undefined) return
    const outX = x < box.scrollLeft || x + NODE.width > box.scrollLeft + box.clientWidth
    const outY = y < box.scrollTop || y + NODE.height > box.scrollTop + box.clientHeight
    if (outX) box.scrollLeft = Math.max(0, x - box.clientWidth / 3)
    if (outY) box.scrollTop = Math.max(0, y - box.clientHeight / 3)
  }, [ref, x, y])
  const chain = new Set(critical)
  const isSeen = (each: Placed) =>
    each.x + NODE.width > seen.left &&
    each.x < seen.right &&
    each.y + NODE.height > seen.top &&
    each.y < seen.bottom
  const shown = [...drawing.placed.values()].filter(isSeen)
  const edges: { name: string; path: string; kind: string }[] = []
  for (const to of drawing.placed.values())
    for (const need of to.node.needs) {
      const from = drawing.placed.get(need)
      if (!from || from.x >= to.x) continue
      if (from.x > seen.right || to.x + NODE.width < seen.left) continue
      if (Math.max(from.y, to.y) < seen.top || Math.min(from.y, to.y) > seen.bottom) continue
      const on = chain.has(need) && chain.has(to.node.id)
      const touches = selected === need || selected === to.node.id
      const kind = `${on ? "cp" : ""} ${touches ? "sel" : ""} ${from.node.bucket === "landed" ? "" : "open"}`
      edges.push({ name: `${need} ${to.node.id}`, path: edge(from, to), kind })
    }
  return (
    <div className="cvs" ref={ref} tabIndex={0} role="region" aria-label="The plan, drawn">
      <div className="paper" style={{ width: drawing.width, height: drawing.height + 12 }}>
        {drawing.heads.map(head => (
          <span key={head.x} className="hd" style={{ left: head.x }}>
            {head.title}
          </span>
        ))}
        <svg width={drawing.width} height={drawing.height} aria-hidden="true">
          {edges.map(each => (
            <path key={each.name} className={each.kind} d={each.path} />
          ))}
        </svg>
        {shown.map(({ node, x: left, y: top }) => (
          <button
            key={node.id}
            type="button"
            className={`nd ${node.bucket} ${chain.has(node.id) ? "cp" : ""}`}
            style={{ left, top, ...NODE }}
            aria-pressed={node.id === selected}
            title={node.id}
            data-cli={`interlock explain ${node.id}`}
            data-entry={node.id}
            onClick={() => props.onSelect(node.id)}
          >
            <Glyph mark={BUCKETS[node.bucket].mark} />
            <span className="id cut">{node.id}</span>
            <span className="vh">{BUCKETS[node.bucket].title.toLowerCase()}</span>
            <About node={node} />
          </button>
        ))}
      </div>
    </div>
  )
}
