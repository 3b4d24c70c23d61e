import { useMemo } from "react"
import type { CostDocument } from "../../api/types"
import { useNarrow } from "../../parts/narrow"
import { clock, dollars, short } from "../../parts/time"

interface Point {
  time: number
  sum: number
}

/** What was used up to each attempt. Attempts that are no longer listed are the height at which the line begins. */
function pointsOf(cost: CostDocument, of: (usage: CostDocument["usage"]) => number): Point[] {
  const attempts = [...cost.attempts].sort((a, b) => a.time - b.time)
  let sum = of(cost.usage) - attempts.reduce((total, each) => total + of(each.usage), 0)
  return attempts.map(each => ({ time: each.time, sum: (sum += of(each.usage)) }))
}

/** A round number at least as large. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)))
  return ([1, 2, 4, 5, 10].find(each => each * power >= value) ?? 10) * power
}

const MOST_POINTS = 120

/** Tokens, or money where agents report it, as attempts ended one after the other. */
export function OverTime({ cost }: { cost: CostDocument }) {
  const narrow = useNarrow()
  const money = cost.usage.cost_usd !== null
  const points = useMemo(
    () => pointsOf(cost, usage => (money ? (usage.cost_usd ?? 0) : usage.input_tokens + usage.output_tokens)),
    [cost, money],
  )
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last || points.length < 2 || last.sum <= 0 || last.time - first.time < 1) return null
  const [width, height, left, right, bottom] = narrow ? [350, 170, 40, 12, 20] : [720, 190, 44, 52, 20]
  const top = roundUp(last.sum)
  const x = (time: number) => left + ((time - first.time) / (last.time - first.time)) * (width - left - right)
  const y = (sum: number) => height - bottom - (sum / top) * (height - bottom - 14)
  const step = Math.ceil(points.length / MOST_POINTS)
  const drawn = points.filter((_, index) => index % step === 0 || index === points.length - 1)
  const line = drawn
    .map((point, index) =>
      index
        ? `H${x(point.time).toFixed(1)}V${y(point.sum).toFixed(1)}`
        : `M${x(point.time)} ${y(point.sum).toFixed(1)}`,
    )
    .join("")
  const words = money ? dollars : short
  const times = [first.time, ...(narrow ? [] : [(first.time + last.time) / 2]), last.time]
  return (
    <section className="card ch" aria-label="Over time">
      <header>
        <h2>{money ? "Money" : "Tokens"} over time</h2>
        <span className="dim t12 cut">counted when an attempt ends</span>
        <span className="sp" />
      </header>
      <div className="pad">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`${words(last.sum)} from ${clock(first.time)} to ${clock(last.time)}`}
        >
          {[0, 0.25, 0.5, 0.75, 1].map(share => (
            <g key={share}>
              <line x1={left} x2={width - right} y1={y(top * share)} y2={y(top * share)} className="grid" />
              <text x={left - 6} y={y(top * share) + 4} textAnchor="end">
                {words(top * share)}
              </text>
            </g>
          ))}
          {times.map((time, index) => (
            <text
              key={time}
              x={x(time)}
              y={height - 4}
              textAnchor={index === 0 ? "start" : index === times.length - 1 ? "end" : "middle"}
            >
              {clock(time)}
            </text>
          ))}
          <path d={line} className="line" />
          <circle cx={x(last.time)} cy={y(last.sum)} r="4" className="now" />
          {!narrow && (
            <text x={x(last.time) + 8} y={y(last.sum) + 4} className="total">
              {words(last.sum)}
            </text>
          )}
        </svg>
      </div>
    </section>
  )
}
