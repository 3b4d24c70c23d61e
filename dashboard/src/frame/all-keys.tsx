import { useState } from "react"
import { VIEWS } from "../views"
import type { View } from "../views/view"
import { keysAreOn, turnKeys } from "./keys"
import { Over } from "./over"

const EVERYWHERE: [string, string][] = [
  ["⌘K", "find a task or run a command"],
  ["/", "the same"],
  ["j k", "move"],
  ["↵", "open"],
  ["space", "pause the view"],
  ["y", "copy the command of the page"],
  ["Y", "copy a link to this moment"],
  ["?", "this list"],
]

export function AllKeys({ view, onClose }: { view: View | undefined; onClose: () => void }) {
  const [on, turn] = useState(keysAreOn())
  const pages = VIEWS.filter(each => each.key).map(each => [`g ${each.key}`, each.title] as [string, string])
  const lists: [string, [string, string][]][] = [
    ...(view?.keys.length ? [[view.title, view.keys] as [string, [string, string][]]] : []),
    ["Everywhere", EVERYWHERE],
    ["Pages", pages],
  ]
  return (
    <Over label="Keys" onClose={onClose}>
      <div className="found pad">
        {lists.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className="kv keys">
              {keys.map(([key, what]) => (
                <div key={key + what} className="row">
                  <dt>
                    {key.split(" ").map(each => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <footer>
        <label className="row">
          <input
            type="checkbox"
            checked={on}
            onChange={event => {
              turnKeys(event.target.checked)
              turn(event.target.checked)
            }}
          />
          single keys are on
        </label>
      </footer>
    </Over>
  )
}
