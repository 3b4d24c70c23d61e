import type { QueueCheck, QueueRow } from "../../api/types"
import { Glyph } from "../../parts/glyph"
import { Inert, plain } from "../../parts/inert"
import { clock, counted, useNow } from "../../parts/time"
import { checkWords, standingOf, waitsForPerson } from "./words"

const CLASSES: Record<string, string> = {
  passed: "ok",
  reused: "re",
  running: "run",
  failed: "bad",
  "known-red": "red",
  waiting: "wait",
}

function Chip({ check, words, share }: { check: QueueCheck; words: string; share?: number }) {
  const title = `${plain(check.command).slice(0, 300)}: ${check.state}${words ? `, ${words}` : ""}`
  return (
    <span
      className={`ck ${CLASSES[check.state] ?? ""}`}
      title={title}
      style={share === undefined ? undefined : { backgroundSize: `${share}% 100%` }}
    >
      <b>
        <Inert text={check.command} max={120} links={false} />
      </b>
      <span>{words}</span>
    </span>
  )
}

/** The share of the expected time that has passed, as far as both are known. */
function Running({ check }: { check: QueueCheck }) {
  const now = useNow()
  const expected = check.expected_seconds
  const share = expected && check.since ? Math.min(100, ((now - check.since) / expected) * 100) : 0
  return <Chip check={check} words={checkWords(check, now)} share={share} />
}

export function Checks({ checks }: { checks: readonly QueueCheck[] }) {
  if (checks.length === 0) return <span className="cks dim t11">no checks</span>
  return (
    <span className="cks">
      {checks.map(check =>
        check.state === "running" ? (
          <Running key={check.command} check={check} />
        ) : (
          <Chip key={check.command} check={check} words={checkWords(check, 0)} />
        ),
      )}
    </span>
  )
}

interface Props {
  row: QueueRow
  /** When the queue was looked at: expected times count from then. */
  time: number
  first: boolean
  selected: boolean
  onSelect: () => void
  onOpen: () => void
}

/** One change on its way to main. */
export function Change({ row, time, first, selected, onSelect, onOpen }: Props) {
  const { mark, rail, words } = standingOf(row)
  const lands = row.lands_in_seconds
  return (
    <button
      type="button"
      className={`cand ${selected ? "sel" : ""}`}
      data-entry={row.task}
      data-state={row.state}
      data-cli={`interlock explain ${row.task}`}
      aria-current={selected || undefined}
      onClick={onSelect}
      onDoubleClick={onOpen}
    >
      <span className={`rail ${rail} ${first ? "first" : ""}`}>
        <Glyph mark={mark} />
      </span>
      <span className="nm">
        <span className="id cut">
          <span className="vh">place {row.place}: </span>
          {row.task}
          {row.attempt > 1 && <span className="dim"> #{row.attempt}</span>}
        </span>
        <span className={`on cut ${waitsForPerson(row) ? "c-needs" : ""}`}>{words}</span>
      </span>
      <Checks checks={row.checks} />
      <span className="eta">
        {lands !== null && !waitsForPerson(row) ? `~${clock(time + lands)}` : ""}
        <span className="dim t11">{row.files ? counted(row.files, "file") : ""}</span>
      </span>
    </button>
  )
}
