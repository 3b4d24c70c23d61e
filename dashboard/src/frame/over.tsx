import { type ReactNode, useEffect, useRef } from "react"

/** Something over the page: closed by Escape, by a click beside it, and it gives the focus back. */
export function Over(props: { label: string; onClose: () => void; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const before = document.activeElement
    if (box.current && !box.current.contains(before)) box.current.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <div className="ov" onClick={event => event.target === event.currentTarget && props.onClose()}>
      <div
        className="pal"
        role="dialog"
        aria-modal="true"
        aria-label={props.label}
        tabIndex={-1}
        ref={box}
        onKeyDown={event => {
          if (event.key === "Escape") props.onClose()
          if (event.key === "Tab") keepInside(event, box.current)
        }}
      >
        {props.children}
      </div>
    </div>
  )
}

function keepInside(event: React.KeyboardEvent, box: HTMLElement | null) {
  const able = [...(box?.querySelectorAll<HTMLElement>("button,input,a[href]") ?? [])]
  const first = able[0]
  const last = able.at(-1)
  if (!first || !last) return
  if (event.shiftKey && document.activeElement === first) {
    event.preventDefault()
    last.focus()
  } else if (!event.shiftKey && document.activeElement === last) {
    event.preventDefault()
    first.focus()
  }
}
