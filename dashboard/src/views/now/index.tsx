import { useMemo } from "react"
import { Link } from "wouter"
import { inBuckets, markOf } from "../../parts/buckets"
import { Cli } from "../../parts/command"
import { Skeleton } from "../../parts/empty"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { useSelection } from "../../parts/selection"
import { lasting } from "../../parts/time"
import { usePicture } from "../../store/picture"
import { InboxCard } from "../inbox/card"
import type { View } from "../view"
import { FirstSteps } from "./first-steps"
import { Lanes } from "./lanes"
import { Measured } from "./measured"
import "./now.css"
import { Strip } from "./strip"

const ALL_SHOWN = 40
/** With so many tasks or fewer, Now lists them all; the board has the rest. */

function AllTasks() {
  const tasks = usePicture(state => state.tasks)
  const rows = useMemo(() => {
    const groups = inBuckets(tasks.values())
    return [
      ...groups.needs_you,
      ...groups.failed,
      ...groups.train,
      ...groups.working,
      ...groups.ready,
      ...groups.blocked,
      ...groups.landed,
    ]
  }, [tasks])
  if (rows.length > ALL_SHOWN) return null
  return (
    <section className="card" aria-label="All tasks">
      <header>
        <h2>All {rows.length} tasks</h2>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock status" />
        </span>
      </header>
      {rows.map(row => (
        <Link key={row.id} className="ts" href={`/tasks/${row.id}`} data-cli={`interlock show ${row.id}`}>
          <Glyph mark={markOf(row)} />
          <span className="id cut">{row.id}</span>
          <span className="mid why">
            <Inert text={row.reason.text} max={300} links={false} />
          </span>
          <span className="dim num">{row.busy_seconds ? lasting(row.busy_seconds) : ""}</span>
        </Link>
      ))}
    </section>
  )
}

function Page() {
  const frame = usePicture(state => state.frame)
  const count = usePicture(state => state.tasks.size)
  const inbox = usePicture(state => state.inbox)
  const ids = useMemo(() => inbox.map(item => item.id), [inbox])
  const [selected, select] = useSelection(ids)
  if (!frame) return <Skeleton rows={12} />
  if (count === 0) return <FirstSteps />
  return (
    <>
      <h1 className="vh">Now</h1>
      <Strip frame={frame} />
      <div className="now">
        <div className="stack">
          <InboxCard selected={selected} onSelect={select} />
          <Measured />
        </div>
        <div className="stack">
          <Lanes selected={null} />
          <AllTasks />
        </div>
      </div>
    </>
  )
}

export const now: View = {
  name: "now",
  title: "Now",
  path: "/",
  icon: "now",
  key: "n",
  command: "interlock status -w",
  keys: [
    ["j k", "move"],
    ["a", "first action"],
    ["↵", "open"],
  ],
  Page,
}
