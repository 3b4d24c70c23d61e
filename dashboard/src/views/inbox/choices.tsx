import { useEffect, useState } from "react"
import { useLocation } from "wouter"
import { useAct } from "../../api/act"
import type { Item } from "../../api/types"
import { useKeys } from "../../frame/keys"
import { Button, Outcome, WithText } from "../../parts/button"
import { Cli } from "../../parts/command"
import { type Choice, choices } from "./actions"

/** The buttons of an item, each with its command; what became of it is said in the same place. */
export function Choices({
  item,
  few = false,
  on,
  change = "",
}: {
  item: Item
  few?: boolean
  on?: "task"
  change?: string
}) {
  const act = useAct()
  const [asking, ask] = useState<Choice | null>(null)
  const [, go] = useLocation()
  const { clear } = act
  const id = item.id
  useEffect(() => {
    ask(null)
    clear()
  }, [id, clear])
  // On its own page a task is open already, and the page has its own button to cancel it.
  const all = choices(item, change).filter(
    choice => on !== "task" || !["o", "x", "d"].includes(choice.hotkey),
  )
  const shown = few ? all.slice(0, 2) : all

  const choose = (choice: Choice) => {
    if (choice.open) go(choice.open)
    else if (choice.asks) ask(choice)
    else if (choice.act) void act.run(...choice.act)
  }
  useKeys({
    ...Object.fromEntries(all.map(choice => [choice.hotkey, () => choose(choice)])),
    ...(asking && { Escape: () => ask(null) }),
  })
  const sent = act.state === "done"

  return (
    <div className="acts">
      {!asking &&
        !sent &&
        shown.map(choice => (
          <div key={choice.label}>
            <Button
              kind={choice.kind}
              line={choice.line}
              hotkey={choice.hotkey}
              disabled={act.state === "busy"}
              onPress={() => choose(choice)}
            >
              {choice.label}
            </Button>
            <Cli line={choice.line} />
          </div>
        ))}
      {asking?.asks && asking.act && !sent && (
        <WithText
          open
          label={asking.asks.send}
          line={asking.line}
          placeholder={asking.asks.placeholder}
          busy={act.state === "busy"}
          onClose={() => ask(null)}
          onSend={text => {
            const [name, body] = asking.act ?? ["", {}]
            void act.run(name, { ...body, [asking.asks?.field ?? "text"]: text })
          }}
        />
      )}
      <Outcome act={act} />
    </div>
  )
}
