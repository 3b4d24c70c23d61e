import type { HealthDocument } from "../../api/types"
import { Cli } from "../../parts/command"
import { counted } from "../../parts/time"

const GIB = 1 << 30
const gib = (bytes: number) => `${(bytes / GIB).toFixed(bytes < 10 * GIB ? 1 : 0)} GiB`

function Meter({ name, share, words, about }: { name: string; share: number; words: string; about: string }) {
  const percent = Math.min(100, Math.max(0, share * 100))
  return (
    <div className="meter">
      <span className="dim">{name}</span>
      <span className={`bar ${percent > 90 ? "tight" : ""}`}>
        <i style={{ width: `${percent}%` }} />
      </span>
      <span>
        {words} <span className="dim t11">{about}</span>
      </span>
    </div>
  )
}

const stalled = (share: number, what: string) =>
  share >= 0.01 ? `programs waited for ${what} ${Math.round(share * 100)} % of the time` : ""

/** Load, memory and disk of the machine that the server runs on. */
export function Machine({ health }: { health: HealthDocument }) {
  const { host, load } = health
  const used = host.total_bytes - host.available_bytes
  const taken = health.disk_bytes - health.disk_free_bytes
  const room = host.available_bytes > 0 ? `enough for ${counted(health.room, "more agent")}` : ""
  return (
    <section className="card" aria-label="Machine">
      <header>
        <h2>Machine</h2>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock clutch" />
        </span>
      </header>
      <div className="pad meters">
        <Meter
          name="load"
          share={load / host.cores}
          words={`${load.toFixed(1)} on ${counted(host.cores, "processor")}`}
          about={stalled(host.cpu_stalled, "one")}
        />
        {host.total_bytes > 0 && (
          <Meter
            name="memory"
            share={used / host.total_bytes}
            words={`${gib(used)} of ${gib(host.total_bytes)}`}
            about={stalled(host.memory_stalled, "memory") || room}
          />
        )}
        <Meter
          name="disk"
          share={taken / Math.max(1, health.disk_bytes)}
          words={`${gib(health.disk_free_bytes)} free`}
          about={`of ${gib(health.disk_bytes)}`}
        />
      </div>
      <dl className="kv pad under">
        <dt>sandbox</dt>
        <dd>{health.sandbox ?? "no run yet"}</dd>
        <dt>workspaces</dt>
        <dd>
          {health.workspaces.length === 0
            ? "none in use"
            : `${counted(health.workspaces.length, "workspace")}, ${health.workspaces.filter(each => each.running).length} at work`}{" "}
          <Cli line="interlock gc --dry-run" />
        </dd>
      </dl>
    </section>
  )
}
