import { type ReactNode, useState } from "react"
import { useAct } from "../api/act"
import { Cli } from "./command"

export interface Action {
  label: string
  /** The command line that does the same. */
  line: string
  /** The key that presses the button; the view binds it. */
  hotkey?: string
  kind?: "pri" | "bad" | "quiet"
}

/** A plain button. With `line` it names its command in the command bar. */
export function Button(props: {
  children: ReactNode
  onPress: () => void
  line?: string | undefined
  hotkey?: string | undefined
  kind?: Action["kind"] | undefined
  pressed?: boolean
  disabled?: boolean
  title?: string
  className?: string
}) {
  const { kind = "", className = "" } = props
  return (
    <button
      type="button"
      className={`btn ${kind} ${className}`}
      data-cli={props.line}
      title={props.title}
      aria-pressed={props.pressed}
      aria-disabled={props.disabled}
      aria-keyshortcuts={props.hotkey}
      onClick={() => props.disabled || props.onPress()}
    >
      {props.children}
      {props.hotkey && <kbd aria-hidden="true">{props.hotkey}</kbd>}
    </button>
  )
}

/** What became of an action, where the click was. */
export function Outcome({ act }: { act: ReturnType<typeof useAct> }) {
  if (act.state === "refused")
    return (
      <span className="refused" role="alert">
        {act.message}
        {act.hint && <span className="dim"> {act.hint}</span>}
      </span>
    )
  if (act.state === "done" && act.message)
    return (
      <span className="done" role="status">
        {act.message}
      </span>
    )
  return null
}

/** Ask for the reason in place, then act. Never a dialog. */
export function WithText(props: {
  open: boolean
  label: string
  line: string
  placeholder: string
  onSend: (text: string) => void
  onClose: () => void
  busy: boolean
  /** True: it may be sent without a text. */
  optional?: boolean
  /** What will happen, above the field. */
  about?: ReactNode
}) {
  const [text, setText] = useState("")
  if (!props.open) return null
  const ready = (props.optional || text.trim() !== "") && !props.busy
  const send = () => ready && props.onSend(text.trim())
  return (
    <form
      className="stack"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      {props.about}
      <textarea
        className="field"
        rows={props.optional ? 2 : 3}
        autoFocus
        aria-label={props.placeholder}
        placeholder={props.placeholder}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === "Escape") props.onClose()
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send()
        }}
      />
      <div className="row wrap">
        <Button kind="pri" line={props.line} onPress={send} disabled={!ready}>
          {props.label}
        </Button>
        <Button kind="quiet" onPress={props.onClose} hotkey="esc">
          Close
        </Button>
        <Cli line={props.line} />
      </div>
    </form>
  )
}
