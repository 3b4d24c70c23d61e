import { useMemo, useState } from "react"
import { useLocation } from "wouter"
import { useAct } from "../api/act"
import type { TaskRow } from "../api/types"
import { Outcome } from "../parts/button"
import { markOf } from "../parts/buckets"
import { Glyph } from "../parts/glyph"
import { Icon } from "../parts/icon"
import { Inert } from "../parts/inert"
import { picture, usePicture } from "../store/picture"
import { VIEWS } from "../views"
import { copy } from "./copy"
import { Over } from "./over"

interface Entry {
  group: string
  label: string
  about?: string
  row?: TaskRow
  line?: string
  /** Nothing: the command is copied. */
  open?: string
  act?: [name: string, body: Record<string, unknown>]
}

const MOST = 8

/** Commands for one task. Those that need words are opened on its page. */
function taskEntries(row: TaskRow): Entry[] {
  const group = `Do with ${row.id}`
  const over = row.bucket === "landed"
  const able: (Entry | false)[] = [
    {
      group,
      label: "Explain why it stands where it stands",
      line: `interlock explain ${row.id}`,
      open: `/tasks/${row.id}`,
    },
    {
      group,
      label: "Show what it changed",
      line: `interlock diff ${row.id}`,
      open: `/tasks/${row.id}?pane=diff`,
    },
    row.state === "failed" && {
      group,
      label: "Retry it",
      line: `interlock retry ${row.id}`,
      act: ["retry", { tasks: [row.id] }],
    },
    !over &&
      row.state !== "cancelled" && {
        group,
        label: "Cancel it",
        line: `interlock cancel ${row.id}`,
        act: ["cancel", { tasks: [row.id] }],
      },
  ]
  return able.filter(entry => entry !== false)
}

function entries(text: string): Entry[] {
  const wanted = text.trim().toLowerCase()
  const isCommand = wanted.startsWith(">")
  const word = isCommand ? wanted.slice(1).trim() : wanted
  const rows = [...picture.get().tasks.values()]
  const fits = (row: TaskRow) => row.id.toLowerCase().includes(word) || row.goal.toLowerCase().includes(word)
  const tasks = isCommand || !word ? [] : rows.filter(fits)
  tasks.sort((a, b) => Number(b.id.startsWith(word)) - Number(a.id.startsWith(word)))
  const first = tasks[0]
  const pages = VIEWS.filter(view => view.key && (!word || view.title.toLowerCase().includes(word)))
  const frame = picture.get().frame
  const run: Entry[] = [
    {
      group: "Run",
      label: frame?.paused ? "Unpause the run" : "Pause the run: start nothing new",
      line: frame?.paused ? "interlock unpause" : "interlock pause",
      act: [frame?.paused ? "unpause" : "pause", {}],
    },
    { group: "Run", label: "Show what waits for you", line: "interlock inbox", open: "/inbox" },
    { group: "Run", label: "Check this machine", line: "interlock doctor" },
  ]
  return [
    ...tasks
      .slice(0, MOST)
      .map(row => ({ group: "Tasks", label: row.id, about: row.reason.text, row, open: `/tasks/${row.id}` })),
    ...(first ? taskEntries(first) : []),
    ...(isCommand
      ? []
      : pages.map(view => ({ group: "Pages", label: view.title, line: view.command, open: view.path }))),
    ...run.filter(entry => !word || entry.label.toLowerCase().includes(word) || entry.line?.includes(word)),
  ]
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const [, go] = useLocation()
  const act = useAct()
  const tasks = usePicture(state => state.tasks)
  // The list follows the tasks, too: a task that landed meanwhile is shown as landed.
  const found = useMemo(() => (tasks ? entries(text) : []), [text, tasks])
  const chosen = Math.min(at, found.length - 1)

  const open = async (entry: Entry | undefined) => {
    if (!entry) return
    if (entry.act) {
      if (await act.run(...entry.act)) onClose()
      return
    }
    if (entry.open) go(entry.open)
    else if (entry.line) await copy(entry.line)
    onClose()
  }

  return (
    <Over label="Commands" onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-found"
        aria-activedescendant={found.length ? `palette-${chosen}` : undefined}
        aria-label="Find a task or a command"
        placeholder="Find a task, or type a command"
        value={text}
        onChange={event => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={event => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
          if (step) {
            event.preventDefault()
            const next = (chosen + step + found.length) % Math.max(1, found.length)
            setAt(next)
            document.getElementById(`palette-${next}`)?.scrollIntoView({ block: "nearest" })
          } else if (event.key === "Enter") void open(found[chosen])
        }}
      />
      <div className="found" role="listbox" id="palette-found" aria-label="Commands">
        {found.map((entry, index) => (
          <div key={entry.group + entry.label} role="presentation">
            {entry.group !== found[index - 1]?.group && <h3>{entry.group}</h3>}
            <div
              role="option"
              id={`palette-${index}`}
              aria-selected={index === chosen}
              data-cli={entry.line}
              onMouseMove={() => setAt(index)}
              onClick={() => void open(entry)}
            >
              {entry.row ? (
                <Glyph mark={markOf(entry.row)} />
              ) : (
                <Icon name={entry.act ? "command" : "task"} size={14} />
              )}
              <span className={entry.row ? "id nw" : "nw"}>{entry.label}</span>
              <span className="dim t12 cut">
                {entry.about && <Inert text={entry.about} max={200} links={false} />}
              </span>
              {entry.line && (
                <span className="cli">
                  <span>{entry.line}</span>
                </span>
              )}
            </div>
          </div>
        ))}
        {found.length === 0 && <p className="pad dim">Nothing is called that.</p>}
      </div>
      <footer>
        <Outcome act={act} />
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>↵</kbd> open
        </span>
        <span className="hide-n">
          type <kbd>&gt;</kbd> for commands only
        </span>
        <span className="sp" />
        <span>
          <kbd>esc</kbd>
        </span>
      </footer>
    </Over>
  )
}
