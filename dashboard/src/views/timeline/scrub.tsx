import { useMemo, useState } from "react"
import type { TimelineDocument } from "../../api/types"
import { Button } from "../../parts/button"
import { Cli } from "../../parts/command"
import { clockWithSeconds } from "../../parts/time"
import { usePicture } from "../../store/picture"
import { showMoment } from "../../store/stream"
import { curves } from "./draw"

const STEPS = 240
const HEIGHT = 56
const PIECES = 1000

const area = (values: number[], most: number) =>
  values
    .map((value, index) => `L${(index / STEPS) * PIECES} ${HEIGHT - (value / most) * (HEIGHT - 6)}`)
    .join("")

/** The whole run in small, and the slider that goes to any moment of it. */
export function Scrub(props: { document: TimelineDocument; moment: number; isOn: boolean }) {
  const { document, moment, isOn } = props
  const at = usePicture(state => state.at)
  const head = usePicture(state => state.head)
  const time = usePicture(state => state.frame?.time ?? 0)
  const [dragged, drag] = useState<number | null>(null)
  const start = document.run?.started ?? 0
  const end = isOn ? Math.max(document.time, time, start + 1) : Math.max(document.run?.ended ?? 0, start + 1)
  const drawn = useMemo(() => {
    const { working, done } = curves(document, start, end, STEPS)
    const most = Math.max(1, ...working)
    const all = Math.max(1, ...done)
    return { working, done, most, all }
  }, [document, start, end])
  const share = Math.max(0, Math.min(1, (moment - start) / (end - start)))
  const step = Math.min(STEPS, Math.floor(share * STEPS))
  const value = dragged ?? Math.round(share * PIECES)
  const go = (next: number) => {
    drag(next)
    if (next >= PIECES && isOn) void showMoment(null)
    else void showMoment({ time: start + (next / PIECES) * (end - start) })
  }
  return (
    <div className="scrub">
      <div className="row t12">
        <b className="med nw">
          {clockWithSeconds(moment)}
          {at === null ? (isOn ? ", now" : ", the end") : ""}
        </b>
        <span className="dim">
          {drawn.done[step] ?? 0} landed (green line), {drawn.working[step] ?? 0} agents at work (blue area)
        </span>
        <span className="sp" />
        {at !== null && (
          <>
            <span className="hide-n">
              <Cli line={`interlock replay --at ${at}`} />
            </span>
            <Button hotkey="l" onPress={() => void showMoment(null)}>
              Live
            </Button>
          </>
        )}
      </div>
      <div className="ar">
        <svg viewBox={`0 0 ${PIECES} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="a" d={`M0 ${HEIGHT}${area(drawn.working, drawn.most)}L${PIECES} ${HEIGHT}Z`} />
          <path className="l" d={area(drawn.done, drawn.all).replace("L", "M")} fill="none" />
          <line className="m" x1={value} x2={value} y1={0} y2={HEIGHT} />
        </svg>
        <input
          type="range"
          min={0}
          max={PIECES}
          value={value}
          aria-label="Moment of the run"
          aria-valuetext={`${clockWithSeconds(moment)}, ${at === null ? `fact ${head}` : `fact ${at}`}`}
          onChange={event => go(Number(event.target.value))}
          onPointerUp={() => drag(null)}
          onBlur={() => drag(null)}
        />
      </div>
    </div>
  )
}
