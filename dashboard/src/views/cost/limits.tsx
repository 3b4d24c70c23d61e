import { Cli } from "../../parts/command"
import { Inert } from "../../parts/inert"
import { clock, counted } from "../../parts/time"
import type { Category, Clutch, Provider } from "./clutch"

/** An account of a program (`login:claude-code`) has agents at work; a server has calls. */
function callsOf(provider: Provider): string {
  const what = provider.provider.startsWith("login:") ? "at work" : "calls"
  return `at most ${Math.round(provider.calls_at_once)} ${what} at once`
}

function ProviderRow({ provider }: { provider: Provider }) {
  const closed = provider.until !== null && provider.until * 1000 > Date.now()
  const share = provider.calls ? (provider.refused / provider.calls) * 100 : 0
  return (
    <div className="pv">
      <div>
        <b className="med">
          <Inert text={provider.provider} max={80} links={false} />
        </b>
        <div className="dim t11">
          {provider.agents === null ? "any number of agents" : counted(provider.agents, "agent")}
        </div>
      </div>
      <div>
        {callsOf(provider)}
        <div className={share >= 10 ? "t11 c-failed" : "dim t11"}>
          {provider.refused} of {counted(provider.calls, "call")} refused
        </div>
      </div>
      {(provider.why || closed) && (
        <div className="why mid">
          {closed && provider.until !== null && <b className="med">Closed until {clock(provider.until)}. </b>}
          <Inert text={provider.why?.text ?? ""} max={400} />
        </div>
      )}
    </div>
  )
}

/** Model servers and accounts, with the limits that they and Interlock set. */
export function Providers({ clutch }: { clutch: Clutch }) {
  return (
    <section className="card" aria-label="Providers">
      <header>
        <h2>Providers</h2>
        <span className="sp" />
        <Cli line="interlock clutch" />
      </header>
      {clutch.providers.map(each => (
        <ProviderRow key={each.provider} provider={each} />
      ))}
      {clutch.providers.length === 0 && (
        <p className="pad t12 mid">
          No provider has said anything about its limits yet: it comes with the first calls.
        </p>
      )}
    </section>
  )
}

function CategoryRow({ row }: { row: Category }) {
  return (
    <tr>
      <td className="id">
        <Inert text={row.category} max={80} links={false} />
      </td>
      <td className="num nw">
        {row.at_work} of {row.limit.limit}
        {row.queued > 0 && <div className="dim t11">{row.queued} queued</div>}
      </td>
      <td className="mid">
        <Inert text={row.limit.why?.text ?? row.limit.brake} max={300} />
      </td>
    </tr>
  )
}

/** The most agents at once, the limits by kind of work, and the decisions that led there. */
export function HowMany({ clutch }: { clutch: Clutch }) {
  const { decisions, categories } = clutch
  const isKnown = clutch.limit > 0 || decisions.length > 0 || categories.length > 0
  return (
    <section className="card" aria-label="How many agents, and why">
      <header>
        <h2>How many agents, and why</h2>
        <span className="sp" />
        <Cli line="interlock clutch" />
      </header>
      {!isKnown && (
        <div className="pad t12 mid">
          No run has set a limit yet.
          <br />
          <Cli line="interlock run --max-parallel auto" />
        </div>
      )}
      {clutch.limit > 0 && (
        <p className="pad t12">
          <b className="med">
            {clutch.is_running
              ? `${clutch.at_work} at work of ${clutch.limit}`
              : `${clutch.limit} in the last run`}
          </b>{" "}
          <span className="mid">
            <Inert text={clutch.why?.text ?? ""} max={300} />
          </span>
        </p>
      )}
      {categories.length > 0 && (
        <table className="tbl">
          <thead>
            <tr>
              <th>kind of work</th>
              <th className="num">agents</th>
              <th>why</th>
            </tr>
          </thead>
          <tbody>
            {categories.map(row => (
              <CategoryRow key={row.category} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {decisions.length > 0 && <h3 className="sub">Last decisions</h3>}
      {[...decisions].reverse().map(each => (
        <div key={`${each.time} ${each.about} ${each.limit}`} className="dc">
          <span className="dim nw">{clock(each.time)}</span>
          <span>
            <b className="med">{each.limit}</b>{" "}
            <span className="dim">
              <Inert text={each.about} max={60} links={false} />
            </span>
          </span>
          <span className="mid">
            <Inert text={each.why?.text ?? each.brake} max={300} />
          </span>
        </div>
      ))}
    </section>
  )
}
