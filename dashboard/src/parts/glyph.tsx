import type { ReactNode } from "react"

/** The state of a task or check as a shape; the colour only says it again. */
export type Mark =
  | "running"
  | "checking"
  | "waiting"
  | "blocked"
  | "needs"
  | "landed"
  | "reused"
  | "failed"
  | "spec"
  | "cancelled"

const ring = { cx: 7, cy: 7, r: 5.25, fill: "none", stroke: "currentColor", strokeWidth: 1.5 }
const tick = { fill: "none", stroke: "currentColor", strokeWidth: 1.5 }

const SHAPES: Record<Mark, [string, ReactNode]> = {
  running: [
    "running",
    [<circle key="a" {...ring} />, <circle key="b" cx="7" cy="7" r="2.8" fill="currentColor" />],
  ],
  checking: [
    "running",
    [
      <circle key="a" {...ring} strokeDasharray="2.4 1.7" />,
      <path key="b" d="M4.6 7.1l1.6 1.7 3.2-3.5" {...tick} />,
    ],
  ],
  waiting: ["waiting", <circle key="a" {...ring} />],
  blocked: ["blocked", <circle key="a" {...ring} strokeDasharray="1.6 1.7" />],
  needs: [
    "needs",
    <rect
      key="a"
      x="2.6"
      y="2.6"
      width="8.8"
      height="8.8"
      rx="1.6"
      transform="rotate(45 7 7)"
      fill="currentColor"
    />,
  ],
  landed: [
    "landed",
    [
      <circle key="a" cx="7" cy="7" r="6" fill="currentColor" />,
      <path key="b" d="M4.3 7.1l1.9 2 3.5-4" fill="none" stroke="var(--surface)" strokeWidth="1.5" />,
    ],
  ],
  reused: ["landed", [<circle key="a" {...ring} />, <path key="b" d="M4.5 7.1l1.8 1.9 3.2-3.7" {...tick} />]],
  failed: [
    "failed",
    [
      <rect key="a" x="1.2" y="1.2" width="11.6" height="11.6" rx="2.4" fill="currentColor" />,
      <path key="b" d="M4.7 4.7l4.6 4.6M9.3 4.7l-4.6 4.6" stroke="var(--surface)" strokeWidth="1.5" />,
    ],
  ],
  spec: [
    "spec",
    [
      <circle key="a" {...ring} strokeDasharray="2 1.7" />,
      <path key="b" d="M7 3.6a3.4 3.4 0 0 1 0 6.8z" fill="currentColor" />,
    ],
  ],
  cancelled: ["waiting", [<circle key="a" {...ring} />, <path key="b" d="M4 10l6-6" {...tick} />]],
}

export function Glyph({ mark }: { mark: Mark }) {
  const [hue, shape] = SHAPES[mark]
  return (
    <svg className="g" viewBox="0 0 14 14" style={{ color: `var(--${hue}-fill)` }} aria-hidden="true">
      {shape}
    </svg>
  )
}
