/** The theme: from the system, unless a person chose one. */
import { useSyncExternalStore } from "react"

export type Theme = "" | "light" | "dark"
const ORDER: Theme[] = ["", "light", "dark"]
const SETTING = "interlock.theme"
const listeners = new Set<() => void>()

export function theme(): Theme {
  const kept = localStorage.getItem(SETTING)
  return kept === "light" || kept === "dark" ? kept : ""
}

export function showTheme() {
  const chosen = theme()
  if (chosen) document.documentElement.dataset.theme = chosen
  else delete document.documentElement.dataset.theme
}

export function nextTheme() {
  localStorage.setItem(SETTING, ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length] ?? "")
  showTheme()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(listener => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, theme)
}
