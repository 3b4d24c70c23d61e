import type { Item } from "../../api/types"
import { Ago } from "../../parts/ago"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { titleOf } from "./actions"

export function ItemTitle({ item }: { item: Item }) {
  const [before, task, after] = titleOf(item)
  return (
    <>
      {before}
      {task && <span className="id">{task}</span>}
      {after}
    </>
  )
}

/** One thing that waits for a person. */
export function ItemRow(props: {
  item: Item
  selected: boolean
  onSelect: () => void
  onOpen?: () => void
  lines?: boolean
}) {
  const { item, selected } = props
  return (
    <button
      type="button"
      className={`ib ${selected ? "sel" : ""}`}
      data-entry={item.id}
      data-cli={item.next[0]}
      aria-current={selected || undefined}
      onClick={props.onSelect}
      onDoubleClick={props.onOpen}
    >
      <Glyph mark={item.kind === "red-main" || item.kind === "failed" ? "failed" : "needs"} />
      <span className="med cut">
        <ItemTitle item={item} />
      </span>
      <span className="a">
        <Ago since={item.since} />
      </span>
      <span className={`w ${props.lines ? "" : "one"}`}>
        <Inert text={item.text} max={400} links={false} />
      </span>
    </button>
  )
}
