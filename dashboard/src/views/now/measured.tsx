import { Cli } from "../../parts/command"
import { usePicture } from "../../store/picture"

const percent = (share: number) => `${Math.round(share * 100)} %`

/** How well the slots of the last measured run were used. */
export function Measured() {
  const pool = usePicture(state => state.frame?.pool)
  if (!pool?.figures) return null
  const { figures, missed, targets } = pool
  const rows: [string, string, string][] = [
    ["attempts", String(figures.attempts), ""],
    ["repeated", percent(figures.retry_rate), "retry_rate"],
    ["conflicts", String(figures.conflicts), "conflicts"],
    ["slots at work", percent(figures.utilization), ""],
    ["idle with work left", percent(figures.idle_share), "idle_share"],
    ["changes by hand", String(figures.by_hand), "by_hand"],
  ]
  return (
    <section className="card" aria-label="The run, measured">
      <header>
        <h2>The run, measured</h2>
        <span className="sp" />
        <Cli line="interlock status --json" />
      </header>
      <table className="tbl">
        <tbody>
          {rows.map(([name, value, target]) => (
            <tr key={name}>
              <td className="dim">{name}</td>
              <td className="num">{value}</td>
              <td className="dim num">
                {missed.includes(target) &&
                  `target ${target.endsWith("e") ? percent(targets[target] ?? 0) : (targets[target] ?? 0)}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
