import { useMemo, useState } from "react"
import { useLocation } from "wouter"
import type { Frame } from "../../api/types"
import { useKeys } from "../../frame/keys"
import { Button } from "../../parts/button"
import { Cli } from "../../parts/command"
import { Skeleton } from "../../parts/empty"
import { useNarrow } from "../../parts/narrow"
import { useSelection } from "../../parts/selection"
import { counted } from "../../parts/time"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import { Dropped, Overlaps } from "./around"
import { Change } from "./change"
import { Detail } from "./detail"
import { KnownRed, OnMain, RedMain } from "./main-line"
import "./train.css"

const SHOWN = 60
const TESTED = ["landing", "checking", "building"]

function Nothing({ frame }: { frame: Frame }) {
  const live = frame.run?.live ?? false
  return (
    <div className="empty">
      <b>No change is on its way to main</b>
      {live
        ? "A change comes here when its agent has finished it."
        : "The changes of a run come here when their agents have finished them."}
      <br />
      {!live && <Cli line="interlock run" />}
    </div>
  )
}

function Page() {
  const frame = usePicture(state => state.frame)
  const queue = usePicture(state => state.queue)
  const [shown, show] = useState(SHOWN)
  const [, go] = useLocation()
  const rows = queue?.queue ?? []
  const ids = useMemo(() => (queue?.queue ?? []).slice(0, shown).map(row => row.task), [queue, shown])
  const [selected, select] = useSelection(ids)
  const narrow = useNarrow()
  const row = rows.find(each => each.task === selected)
  const open = (task: string) => go(`/tasks/${encodeURIComponent(task)}`)
  useKeys({ "↵": () => row && open(row.task) })
  if (!frame || !queue) return <Skeleton rows={10} />
  const tested = rows.filter(each => TESTED.includes(each.state)).length
  return (
    <>
      <div className="ph">
        <h1>Merge train</h1>
        {frame.main.frozen && <span className="tag failed">main is red: only a fix or a revert lands</span>}
        <span className="dim t12 cut">
          {rows.length > 0 &&
            `${counted(rows.length, "change")}, ${tested} tested now${queue.live ? "" : "; no run is active"}`}
        </span>
      </div>
      <div className="tg">
        <div className="stack">
          {narrow && <RedMain frame={frame} />}
          <section className="card" aria-label="The train">
            <OnMain frame={frame} />
            {rows.length === 0 && <Nothing frame={frame} />}
            {rows.slice(0, shown).map((each, index) => (
              <div key={each.task}>
                <Change
                  row={each}
                  time={queue.time}
                  first={index === 0}
                  selected={each === row}
                  onSelect={() => select(each.task)}
                  onOpen={() => open(each.task)}
                />
                {narrow && each === row && <Detail row={each} inline />}
              </div>
            ))}
            {rows.length > shown && (
              <Button kind="quiet" onPress={() => show(shown + SHOWN)}>
                {rows.length - shown} more
              </Button>
            )}
          </section>
          <Dropped rows={queue.sent_back} />
        </div>
        <aside className="stack" aria-label="About the train">
          {!narrow && <RedMain frame={frame} />}
          {!narrow && row && <Detail row={row} />}
          <Overlaps />
          <KnownRed frame={frame} />
        </aside>
      </div>
    </>
  )
}

export const train: View = {
  name: "train",
  title: "Merge train",
  path: "/train",
  icon: "train",
  key: "m",
  command: "interlock queue",
  keys: [
    ["j k", "move"],
    ["b", "bump"],
    ["h", "hold"],
    ["d", "drop"],
    ["e", "explain"],
  ],
  Page,
}
