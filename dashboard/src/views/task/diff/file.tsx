import { memo, type ReactNode, useState } from "react"
import { Button } from "../../../parts/button"
import { Inert, inertText } from "../../../parts/inert"
import type { DiffLine, FileDiff } from "./parse"
import { lineCount } from "./parse"

/** Above, a file is folded until a person opens it. */
const FOLDED_LINES = 400
const LINE_CHARS = 2000
const SIGNS = { add: "+", del: "−", same: "", note: "" }

export interface Place {
  path: string
  line: number
}

interface LineProps {
  line: DiffLine
  path: string
  onComment: ((place: Place) => void) | null
}

const Line = memo(function Line({ line, path, onComment }: LineProps) {
  const number = line.new ?? line.old
  const canComment = onComment !== null && line.new !== null
  return (
    <div className={`dl ${line.kind}`} data-line={line.new === null ? undefined : `${path}:${line.new}`}>
      {canComment ? (
        <button
          type="button"
          className="n"
          tabIndex={-1}
          aria-label={`Comment on line ${line.new} of ${inertText(path, 400)}`}
          onClick={() => onComment({ path, line: line.new ?? 0 })}
        >
          {number}
        </button>
      ) : (
        <span className="n">{number}</span>
      )}
      <span className="s">{SIGNS[line.kind]}</span>
      <span className="c">{line.text ? <Inert text={line.text} max={LINE_CHARS} links={false} /> : " "}</span>
    </div>
  )
})

interface FileProps {
  file: FileDiff
  place: string
  /** What stands below a line: comments, and the one that is written. */
  below: ReadonlyMap<string, ReactNode>
  onComment: ((place: Place) => void) | null
}

/** One file of a diff. */
export function DiffFile({ file, place, below, onComment }: FileProps) {
  const lines = lineCount(file)
  const [open, setOpen] = useState(lines <= FOLDED_LINES)
  const words =
    file.kind === "changed" ? "" : file.kind === "renamed" ? `from ${inertText(file.from, 400)}` : file.kind
  return (
    <section className="file" aria-label={inertText(file.path, 400)} data-file={file.path}>
      <header className="fl">
        <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span>
          <code className="cut">
            <Inert text={file.path} max={400} links={false} />
          </code>
        </button>
        {file.added > 0 && <span className="c-landed">+{file.added}</span>}
        {file.removed > 0 && <span className="c-failed">−{file.removed}</span>}
        {words && <span className="dim cut">{words}</span>}
        <span className="sp" />
        <span className="dim nw">{place}</span>
      </header>
      {below.get(`${file.path}:0`)}
      {!open && (
        <div className="empty">
          {lines} lines.{" "}
          <Button kind="quiet" onPress={() => setOpen(true)}>
            Show them
          </Button>
        </div>
      )}
      {open &&
        file.hunks.map(hunk => (
          <div key={hunk.header}>
            <div className="dl hunk">
              <span className="n" />
              <span className="s" />
              <span className="c">
                <Inert text={hunk.header} max={300} links={false} />
              </span>
            </div>
            {hunk.lines.map((line, index) => (
              // The lines of a diff have no other name than their place.
              <div key={index}>
                <Line line={line} path={file.path} onComment={onComment} />
                {line.new !== null && below.get(`${file.path}:${line.new}`)}
              </div>
            ))}
          </div>
        ))}
      {open && file.kind === "binary" && (
        <div className="empty">A binary file: git shows no lines of it.</div>
      )}
    </section>
  )
}
