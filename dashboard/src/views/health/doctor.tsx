import type { Finding } from "../../api/types"
import { Cli } from "../../parts/command"
import { Glyph, type Mark } from "../../parts/glyph"
import { Inert } from "../../parts/inert"

const MARKS: Record<string, Mark> = { ok: "landed", warning: "needs", bad: "failed" }
const IS_COMMAND = /^(interlock|git|chmod|rm|unset|sysctl)\b/

/** The rows of `interlock doctor` that take no time. */
export function Doctor({ findings }: { findings: readonly Finding[] }) {
  return (
    <section className="card" aria-label="Examined">
      <header>
        <h2>Examined</h2>
        <span className="dim t12 cut hide-n">without running checks and agents</span>
        <span className="sp" />
        <Cli line="interlock doctor" />
      </header>
      {findings.map((each, index) => (
        <div key={`${each.name} ${index}`} className="fi">
          <Glyph mark={MARKS[each.health] ?? "waiting"} />
          <span className="med">
            {each.name}
            {each.health !== "ok" && <span className="vh">: {each.health}</span>}
          </span>
          <span className="mid">
            <Inert text={each.text} max={400} links={false} />
            {each.fix && IS_COMMAND.test(each.fix) && !each.fix.includes("\n") && (
              <div>
                <Cli line={each.fix} />
              </div>
            )}
            {each.fix && !IS_COMMAND.test(each.fix) && (
              <div className="dim">
                <Inert text={each.fix} max={400} />
              </div>
            )}
          </span>
        </div>
      ))}
    </section>
  )
}
