/** The output of an attempt as it comes, with its colours: a terminal that only shows. */
import { useEffect, useRef, useState } from "react"
import { ofProject } from "../../api/client"
import { Inert } from "../../parts/inert"

interface Piece {
  look: string
  text: string
}

const AGAIN_MILLISECONDS = 1000
const MOST_CHARS = 200_000
/** Older output is left out; the log has it. */
const COLOUR = /\u001b\[([0-9;]*)m/g
/** The colours that programs use most, as the page has them; the others are plain. */
const LOOKS: Record<string, string> = {
  1: "semi",
  2: "dim",
  31: "c-failed",
  32: "c-landed",
  34: "c-running",
  35: "c-spec",
  36: "c-running",
  90: "dim",
  91: "c-failed",
  92: "c-landed",
  94: "c-running",
  95: "c-spec",
  96: "c-running",
}

/** Text in pieces of one look. The look goes on from the end of the text before. */
export function pieces(text: string, look: string): [found: Piece[], look: string] {
  const found: Piece[] = []
  let from = 0
  for (const match of text.matchAll(COLOUR)) {
    if (match.index > from) found.push({ look, text: text.slice(from, match.index) })
    from = match.index + match[0].length
    for (const code of (match[1] || "0").split(";")) {
      const named = LOOKS[Number(code)]
      if (Number(code) === 0 || Number(code) === 39) look = ""
      else if (named) look = named
    }
  }
  if (from < text.length) found.push({ look, text: text.slice(from) })
  return [found, look]
}

/** What the server sends, from the end of what there was before. `onFail`: there can be no connection of this kind. */
function useOutput(path: string, onFail: () => void): Piece[] {
  const [shown, show] = useState<Piece[]>([])
  const failed = useRef(onFail)
  failed.current = onFail
  useEffect(() => {
    let socket: WebSocket
    let timer: ReturnType<typeof setTimeout>
    let over = false
    const connect = () => {
      const url = new URL(ofProject(path), location.href)
      url.protocol = location.protocol === "https:" ? "wss:" : "ws:"
      let [opened, look, size, kept] = [false, "", 0, [] as Piece[]]
      socket = new WebSocket(url)
      socket.onopen = () => (opened = true)
      socket.onmessage = event => {
        const [found, after] = pieces(String(event.data).replaceAll("\r\n", "\n"), look)
        look = after
        kept = [...kept, ...found]
        size += found.reduce((sum, piece) => sum + piece.text.length, 0)
        while (size > MOST_CHARS && kept.length > 1) {
          size -= kept[0]?.text.length ?? 0
          kept = kept.slice(1)
        }
        show(kept)
      }
      socket.onclose = () => {
        if (over) return
        if (!opened) return failed.current()
        timer = setTimeout(connect, AGAIN_MILLISECONDS)
      }
    }
    connect()
    return () => {
      over = true
      clearTimeout(timer)
      socket.close()
    }
  }, [path])
  return shown
}

export function Terminal(props: { task: string; attempt: number; onFail: () => void }) {
  const path = `/api/tasks/${encodeURIComponent(props.task)}/terminal?attempt=${props.attempt}`
  const shown = useOutput(path, props.onFail)
  const box = useRef<HTMLPreElement>(null)
  useEffect(() => {
    const scroller = box.current?.closest(".middle")
    if (!scroller) return
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 200
    if (isAtEnd || scroller.scrollTop === 0) scroller.scrollTop = scroller.scrollHeight
  }, [shown])
  return (
    <pre className="output" ref={box} aria-label="Terminal of the agent">
      {shown.length === 0 && (
        <span className="dim">It has printed nothing yet; what it prints comes here.</span>
      )}
      {shown.map((piece, index) => (
        // A piece is its place in the output.
        <span key={index} className={piece.look}>
          <Inert text={piece.text} max={MOST_CHARS} />
        </span>
      ))}
    </pre>
  )
}
