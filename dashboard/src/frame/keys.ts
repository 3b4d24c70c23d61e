/** Keys: the frame's below, the view's above, the newest part first. Off in text fields, and where a person turned them off. */
import { useEffect, useRef } from "react"

export type Keys = Record<string, (event: KeyboardEvent) => void>

const stack: { current: Keys }[] = []
const SETTING = "interlock.keys"
let prefix = 0

export function keysAreOn(): boolean {
  return localStorage.getItem(SETTING) !== "off"
}

export function turnKeys(on: boolean) {
  localStorage.setItem(SETTING, on ? "on" : "off")
}

function isText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && target.type === "range") return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key === " " ? "space" : event.key === "Enter" ? "↵" : event.key
  if (event.metaKey || event.ctrlKey) return `mod+${key.toLowerCase()}`
  return key.startsWith("Arrow") && event.shiftKey ? `shift+${key}` : key
}

function onKey(event: KeyboardEvent) {
  if (event.altKey || event.isComposing || event.defaultPrevented) return
  const name = nameOf(event)
  const single = !name.startsWith("mod+") && name !== "Escape"
  if (single && (isText(event.target) || !keysAreOn())) return
  // Space and Enter belong to the control that has the focus.
  if (
    (name === "space" || name === "↵") &&
    event.target instanceof Element &&
    event.target.closest("button,a,summary")
  )
    return
  const full = performance.now() < prefix ? `g ${name}` : name
  prefix = name === "g" && full === "g" ? performance.now() + 1200 : 0
  for (let index = stack.length - 1; index >= 0; index--) {
    const handler = stack[index]?.current[full]
    if (handler) {
      event.preventDefault()
      handler(event)
      return
    }
  }
}

/** Bind keys as long as the component is shown. */
export function useKeys(keys: Keys) {
  const ref = useRef(keys)
  useEffect(() => {
    ref.current = keys
  })
  useEffect(() => {
    if (stack.length === 0) document.addEventListener("keydown", onKey)
    stack.push(ref)
    return () => {
      stack.splice(stack.indexOf(ref), 1)
      if (stack.length === 0) document.removeEventListener("keydown", onKey)
    }
  }, [])
}
