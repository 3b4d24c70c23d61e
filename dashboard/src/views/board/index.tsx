import { useMemo, useState } from "react"
import { Link, useLocation, useSearchParams } from "wouter"
import type { Bucket, Frame, TaskRow } from "../../api/types"
import { useKeys } from "../../frame/keys"
import { BUCKETS, inBuckets, markOf } from "../../parts/buckets"
import { Button } from "../../parts/button"
import { Empty, Skeleton } from "../../parts/empty"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { clock, counted, lasting, useNow } from "../../parts/time"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import "./board.css"

const COLUMNS: Bucket[] = ["blocked", "ready", "working", "needs_you", "train", "landed", "failed"]
const SHORT: Bucket[] = ["working", "landed"]
/** Columns of one line for each task: what they do is on Now, or over. */
const SHOWN = 100

function about(bucket: Bucket, frame: Frame): string {
  const { slots } = frame.pool
  const live = frame.run?.live ?? false
  if (bucket === "blocked") return "something must land first"
  if (bucket === "ready") return live ? "free to start" : "no run is active"
  if (bucket === "working") return live ? `${slots.in_use} of ${counted(slots.limit, "slot")} in use` : ""
  if (bucket === "needs_you") return "waits for a person"
  if (bucket === "train") return frame.main.frozen ? "held: main is red" : "finished, being checked"
  if (bucket === "landed") return "newest first"
  const alike = Math.max(0, ...frame.alike.map(each => each.tasks.length))
  return alike > 1 ? `${alike} fail alike` : "out of attempts, or cancelled"
}

function Card({ row, selected }: { row: TaskRow; selected: boolean }) {
  return (
    <Link
      className={`cd ${row.bucket} ${selected ? "sel" : ""}`}
      href={`/tasks/${encodeURIComponent(row.id)}`}
      data-cli={`interlock show ${row.id}`}
      data-entry={row.id}
    >
      <span className="row">
        {(row.bucket === "train" || row.state === "cancelled") && <Glyph mark={markOf(row)} />}
        <span className="id cut">{row.id}</span>
        {row.attempts > 1 && <span className="dim t11">#{row.attempts}</span>}
      </span>
      <p>
        <Inert
          text={row.bucket === "needs_you" && row.question ? row.question : row.reason.text}
          max={160}
          links={false}
        />
      </p>
    </Link>
  )
}

function Line({ row, selected }: { row: TaskRow; selected: boolean }) {
  const now = useNow()
  return (
    <Link
      className={`ln ${selected ? "sel" : ""}`}
      href={`/tasks/${encodeURIComponent(row.id)}`}
      data-cli={row.bucket === "working" ? `interlock attach ${row.id}` : `interlock show ${row.id}`}
      data-entry={row.id}
      title={row.reason.text}
    >
      <span className="id cut sp">
        {row.id}
        {row.attempts > 1 && <span className="dim"> #{row.attempts}</span>}
      </span>
      <span className="dim nw">{row.bucket === "working" ? lasting(now - row.since) : clock(row.since)}</span>
    </Link>
  )
}

function Column(props: { bucket: Bucket; rows: TaskRow[]; frame: Frame; selected: string | null }) {
  const { bucket, rows } = props
  const [shown, show] = useState(SHOWN)
  const { title, mark } = BUCKETS[bucket]
  const isShort = SHORT.includes(bucket)
  const Entry = isShort ? Line : Card
  return (
    <section className="col" aria-label={title} data-bucket={bucket}>
      <header>
        <h2>
          <Glyph mark={mark} />
          {title} <span>{rows.length.toLocaleString("en")}</span>
        </h2>
        <div className="s">{about(bucket, props.frame)}</div>
      </header>
      <div
        className={`cs ${isShort ? "list" : ""}`}
        tabIndex={rows.length ? 0 : undefined}
        role={rows.length ? "region" : undefined}
        aria-label={rows.length ? `${title}, tasks` : undefined}
      >
        {rows.slice(0, shown).map(row => (
          <Entry key={row.id} row={row} selected={row.id === props.selected} />
        ))}
        {rows.length > shown && (
          <Button kind="quiet" onPress={() => show(shown + SHOWN)}>
            {rows.length - shown} more
          </Button>
        )}
      </div>
    </section>
  )
}

/** h and l between columns, j and k within one. */
function useGrid(columns: TaskRow[][]): string | null {
  const [at, move] = useState<[column: number, place: number] | null>(null)
  const [, go] = useLocation()
  const full = columns.map((rows, index) => (rows.length ? index : -1)).filter(index => index >= 0)
  const [column, place] = at ?? [full[0] ?? 0, -1]
  const rows = columns[column] ?? []
  const row = rows[Math.min(place, rows.length - 1)]
  const to = (nextColumn: number, nextPlace: number) => {
    const wanted = columns[nextColumn] ?? []
    const found = Math.max(0, Math.min(nextPlace, Math.min(wanted.length, SHOWN) - 1))
    move([nextColumn, found])
    const id = wanted[found]?.id
    if (id)
      document
        .querySelector(`[data-entry="${CSS.escape(id)}"]`)
        ?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }
  const beside = (step: number) => to(full[full.indexOf(column) + step] ?? column, Math.max(0, place))
  useKeys({
    j: () => to(column, place + 1),
    k: () => to(column, place - 1),
    h: () => beside(-1),
    l: () => beside(1),
    "↵": () => row && go(`/tasks/${encodeURIComponent(row.id)}`),
  })
  return row?.id ?? null
}

function Page() {
  const frame = usePicture(state => state.frame)
  const tasks = usePicture(state => state.tasks)
  const [search, setSearch] = useSearchParams()
  const story = search.get("story") ?? ""
  const stories = useMemo(
    () => [...new Set([...tasks.values()].map(row => row.story).filter(Boolean))].sort(),
    [tasks],
  )
  const columns = useMemo(() => {
    const groups = inBuckets([...tasks.values()].filter(row => !story || row.story === story))
    groups.landed.sort((a, b) => b.since - a.since)
    groups.working.sort((a, b) => a.since - b.since)
    return COLUMNS.map(bucket => groups[bucket])
  }, [tasks, story])
  const selected = useGrid(columns)
  if (!frame) return <Skeleton rows={10} />
  return (
    <>
      <div className="hdr row wrap">
        <h1>Board</h1>
        <span className="dim t12 hide-n">Columns are states of the scheduler: a card moves by itself.</span>
        <span className="sp" />
        {stories.length > 1 && (
          <label className="row t12 dim">
            story
            <select
              className="btn"
              value={story}
              onChange={event => setSearch(event.target.value ? { story: event.target.value } : {})}
            >
              <option value="">all</option>
              {stories.map(each => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {tasks.size === 0 ? (
        <Empty title="No tasks yet" line="interlock run">
          The tasks of task-graph.yaml come here with the first run.
        </Empty>
      ) : (
        <div className="bd">
          {COLUMNS.map((bucket, index) => (
            <Column
              key={bucket}
              bucket={bucket}
              rows={columns[index] ?? []}
              frame={frame}
              selected={selected}
            />
          ))}
        </div>
      )}
    </>
  )
}

export const board: View = {
  name: "board",
  title: "Board",
  path: "/board",
  icon: "board",
  key: "b",
  command: "interlock status",
  keys: [
    ["h l", "column"],
    ["j k", "card"],
    ["↵", "open"],
  ],
  flush: true,
  Page,
}
