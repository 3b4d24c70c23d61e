import { useRef } from "react"
import { Link, useLocation } from "wouter"
import { useKeys } from "../../frame/keys"
import { Cli } from "../../parts/command"
import { Ago } from "../../parts/ago"
import { usePicture } from "../../store/picture"
import { Choices } from "./choices"
import "./inbox.css"
import { ItemRow } from "./row"

const SHOWN = 12

/** The inbox on Now: the selected item with its first actions. */
export function InboxCard({
  selected,
  onSelect,
}: {
  selected: string | null
  onSelect: (id: string) => void
}) {
  const inbox = usePicture(state => state.inbox)
  const [, go] = useLocation()
  const box = useRef<HTMLElement>(null)
  const oldest = inbox.reduce((least, item) => Math.min(least, item.since), Number.POSITIVE_INFINITY)
  useKeys({ "↵": () => selected && go(`/inbox?item=${encodeURIComponent(selected)}`) })
  return (
    <section className="card" aria-label="Needs you" ref={box}>
      <header>
        <h2>Needs you</h2>
        {inbox.length > 0 && (
          <span className="dim t12 nw">
            {inbox.length}, oldest <Ago since={oldest} />
          </span>
        )}
        <span className="sp" />
        <Link className="btn quiet" href="/inbox" data-cli="interlock inbox">
          Open inbox <kbd>g i</kbd>
        </Link>
      </header>
      {inbox.slice(0, SHOWN).map(item => (
        <div key={item.id} className={item.id === selected ? "chosen" : ""}>
          <ItemRow
            item={item}
            selected={item.id === selected}
            lines={item.id === selected}
            onSelect={() => onSelect(item.id)}
            onOpen={() => go(`/inbox?item=${encodeURIComponent(item.id)}`)}
          />
          {item.id === selected && <Choices item={item} few />}
        </div>
      ))}
      {inbox.length > SHOWN && (
        <Link className="ib" href="/inbox">
          <span />
          <span className="dim">{inbox.length - SHOWN} more</span>
        </Link>
      )}
      {inbox.length === 0 && (
        <div className="empty">
          <b>Nothing waits for you</b>
          Questions, permissions, reviews and failures come here. <Cli line="interlock inbox" />
        </div>
      )}
    </section>
  )
}
