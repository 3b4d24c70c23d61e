import { useEffect, useState, useSyncExternalStore } from "react"
import { Icon } from "../parts/icon"
import type { View } from "../views/view"
import { copy, onCopied } from "./copy"

export interface PageWords {
  title: string
  command: string
  keys: [string, string][]
}

// A page with a parameter says its own title, command and keys.
let said: Partial<PageWords> = {}
const listeners = new Set<() => void>()

/** Say the title, command and keys of the page that is shown, where they depend on what it shows. */
export function useSay(words: Partial<PageWords>) {
  const text = JSON.stringify(words)
  useEffect(() => {
    said = JSON.parse(text) as Partial<PageWords>
    for (const listener of listeners) listener()
    return () => {
      said = {}
      for (const listener of listeners) listener()
    }
  }, [text])
}

export function usePageWords(view: View | undefined): PageWords {
  const now = useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => said,
  )
  return {
    title: now.title ?? view?.title ?? "Interlock",
    command: now.command ?? view?.command ?? "interlock status",
    keys: now.keys ?? view?.keys ?? [],
  }
}

/** The command of what the pointer or the focus is on; otherwise the page's own. */
export function CommandBar({ words }: { words: PageWords }) {
  const [line, setLine] = useState("")
  const [copied, setCopied] = useState("")
  useEffect(() => {
    const follow = (event: Event) => {
      const target = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-cli]") : null
      setLine(target?.dataset.cli ?? "")
    }
    document.addEventListener("mouseover", follow)
    document.addEventListener("focusin", follow)
    return () => {
      document.removeEventListener("mouseover", follow)
      document.removeEventListener("focusin", follow)
    }
  }, [])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const stop = onCopied(text => {
      setCopied(text)
      clearTimeout(timer)
      timer = setTimeout(() => setCopied(""), 2000)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
  const shown = line || words.command
  return (
    <footer className="cmd">
      <span>{line ? "The same as a command:" : "This page as a command:"}</span>
      <code className="cut">$ {shown}</code>
      <button type="button" className="btn quiet" aria-label="Copy the command" onClick={() => copy(shown)}>
        <Icon name="copy" size={13} />
      </button>
      <span role="status">{copied && "copied"}</span>
      <span className="keys">
        {[...words.keys, ["⌘K", "commands"] as const, ["?", "all keys"] as const].map(([key, what]) => (
          <span key={key}>
            {key.split(" ").map(each => (
              <kbd key={each}>{each}</kbd>
            ))}{" "}
            {what}
          </span>
        ))}
      </span>
    </footer>
  )
}
