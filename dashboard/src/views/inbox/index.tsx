import { useMemo } from "react"
import { Link, useSearchParams } from "wouter"
import type { Item } from "../../api/types"
import { markOf } from "../../parts/buckets"
import { Empty, Skeleton } from "../../parts/empty"
import { Ago } from "../../parts/ago"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { useNarrow } from "../../parts/narrow"
import { useSelection } from "../../parts/selection"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import { GROUP_ORDER, groupOf } from "./actions"
import { Choices } from "./choices"
import "./inbox.css"
import { ItemRow, ItemTitle } from "./row"

/** What is known about an item beside its text. */
function About({ item }: { item: Item }) {
  const row = usePicture(state => state.tasks.get(item.task))
  const tasks = usePicture(state => state.tasks)
  const waiting = useMemo(
    () => [...tasks.values()].filter(each => each.bucket !== "landed" && each.needs.includes(item.task)),
    [tasks, item.task],
  )
  if (!row) return null
  return (
    <section className="ev" aria-label="Where it stands">
      <header>Where it stands</header>
      <dl className="kv pad">
        <dt>task</dt>
        <dd>
          <Link className="link" href={`/tasks/${encodeURIComponent(row.id)}`}>
            <Glyph mark={markOf(row)} /> <span className="id">{row.id}</span>
          </Link>
        </dd>
        <dt>goal</dt>
        <dd>
          <Inert text={row.goal} max={600} />
        </dd>
        <dt>state</dt>
        <dd>
          <Inert text={row.reason.text} max={400} />
        </dd>
        <dt>attempts</dt>
        <dd>{row.attempts}</dd>
        {waiting.length > 0 && (
          <>
            <dt>wait for it</dt>
            <dd>
              {waiting.slice(0, 12).map(each => (
                <Link key={each.id} className="id link after" href={`/tasks/${encodeURIComponent(each.id)}`}>
                  {each.id}
                </Link>
              ))}
              {waiting.length > 12 && <span className="dim">and {waiting.length - 12} more</span>}
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Detail({ item }: { item: Item }) {
  return (
    <article className="de" aria-label="The selected item">
      <h1>
        <ItemTitle item={item} />
      </h1>
      <p className="lead">
        <Inert text={item.text} max={2000} />
        <span className="dim t12 nw">
          {" "}
          · waits for <Ago since={item.since} />
        </span>
      </p>
      <Choices item={item} />
      {item.message && item.message !== item.text && (
        <section className="ev" aria-label="Message of the agent">
          <header>Message of the agent</header>
          <pre>
            <Inert text={item.message} />
          </pre>
        </section>
      )}
      <About item={item} />
    </article>
  )
}

function Page() {
  const ready = usePicture(state => state.frame !== null)
  const inbox = usePicture(state => state.inbox)
  const [search] = useSearchParams()
  const groups = useMemo(() => {
    const found = new Map<string, Item[]>(GROUP_ORDER.map(title => [title, []]))
    for (const item of inbox) found.get(groupOf(item))?.push(item)
    return [...found].filter(([, items]) => items.length)
  }, [inbox])
  const ids = useMemo(() => groups.flatMap(([, items]) => items.map(item => item.id)), [groups])
  const [selected, select] = useSelection(ids, search.get("item"))
  const narrow = useNarrow()
  const item = inbox.find(each => each.id === selected)
  if (!ready) return <Skeleton rows={8} />
  if (!item)
    return (
      <>
        <h1 className="vh">Inbox</h1>
        <Empty title="Nothing waits for you" line="interlock inbox">
          Questions and permissions of agents, changes to review, failed tasks and a red main come here.
        </Empty>
      </>
    )
  return (
    <div className="in">
      <div className="li" role="region" aria-label="Needs you">
        {narrow && <h1 className="vh">Inbox</h1>}
        {groups.map(([title, items]) => (
          <section key={title} aria-label={title}>
            <h2>{title}</h2>
            {items.map(each => (
              <div key={each.id}>
                <ItemRow item={each} selected={each === item} onSelect={() => select(each.id)} />
                {each === item && narrow && (
                  <div className="inl">
                    <Choices item={each} />
                  </div>
                )}
              </div>
            ))}
          </section>
        ))}
      </div>
      {!narrow && <Detail item={item} />}
    </div>
  )
}

export const inbox: View = {
  name: "inbox",
  title: "Inbox",
  path: "/inbox",
  icon: "inbox",
  key: "i",
  command: "interlock inbox",
  keys: [
    ["j k", "move"],
    ["a", "approve"],
    ["r", "reject"],
    ["e", "write"],
    ["o", "open"],
  ],
  flush: true,
  Page,
}
