import type { BudgetRow } from "../../api/types"
import { Cli } from "../../parts/command"
import { Inert } from "../../parts/inert"
import { dollars, short } from "../../parts/time"

interface Side {
  unit: string
  limit: number
  spent: number
  reserved: number
  words: (amount: number) => string
}

function sidesOf(row: BudgetRow): Side[] {
  const sides: Side[] = []
  if (row.limit_usd !== null)
    sides.push({
      unit: "",
      limit: row.limit_usd,
      spent: row.spent_usd,
      reserved: row.reserved_usd,
      words: dollars,
    })
  if (row.limit_tokens !== null)
    sides.push({
      unit: " tokens",
      limit: row.limit_tokens,
      spent: row.spent_tokens,
      reserved: row.reserved_tokens,
      words: short,
    })
  return sides
}

/** A budget for each attempt or each task is only a limit; only of a shared one is something spent. */
function SideLine({ side, each }: { side: Side; each: boolean }) {
  const { unit, limit, spent, reserved, words } = side
  if (each)
    return (
      <div className="mid">
        at most {words(limit)}
        {unit}
      </div>
    )
  const share = limit > 0 ? Math.min(100, (spent / limit) * 100) : 100
  return (
    <div>
      {words(spent)} of {words(limit)}
      {unit}
      {reserved > 0 && <span className="dim">, {words(reserved)} reserved</span>}
      <span className="bar">
        <i style={{ width: `${share}%` }} />
      </span>
    </div>
  )
}

function Row({ row }: { row: BudgetRow }) {
  const each = !row.task && (row.budget === "attempt" || row.budget === "task")
  return (
    <div className="pv" data-entry={row.task || row.budget}>
      <div>
        <b className="med">
          <Inert text={row.task || (each ? `each ${row.budget}` : row.budget)} max={80} links={false} />
        </b>
        {row.is_used_up && <div className="t11 c-failed">used up: no agent starts</div>}
      </div>
      <div className="stack">
        {sidesOf(row).map(side => (
          <SideLine key={side.unit} side={side} each={each} />
        ))}
      </div>
    </div>
  )
}

/** What raises the first budget that is used up, on the side that it has. */
function commandOf(rows: BudgetRow[]): string {
  const short = rows.find(row => row.is_used_up)
  if (!short) return "interlock budget"
  return short.limit_usd === null ? "interlock budget --add-tokens 1000000" : "interlock budget --add 5"
}

/** What is left of each budget of the last run. Without one, nothing is drawn. */
export function Budgets({ rows }: { rows: BudgetRow[] }) {
  if (rows.length === 0) return null
  return (
    <section className="card" aria-label="Budgets">
      <header>
        <h2>Budgets</h2>
        <span className="sp" />
        <Cli line={commandOf(rows)} />
      </header>
      {rows.map(row => (
        <Row key={`${row.budget} ${row.task}`} row={row} />
      ))}
    </section>
  )
}
