import { useRef } from "react"
import { Link } from "wouter"
import type { AgentRow } from "../../api/types"
import { Cli } from "../../parts/command"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { counted, dollars, lasting, short, useNow } from "../../parts/time"
import { usePicture } from "../../store/picture"

const FREE_SHOWN = 8

/** Which agent is in which lane. An agent keeps its lane until it ends, so that no row moves under the pointer. */
function useLanes(agents: ReadonlyMap<string, AgentRow>): (AgentRow | null)[] {
  const lanes = useRef<(string | null)[]>([])
  const next = lanes.current.map(name => (name !== null && agents.has(name) ? name : null))
  for (const name of agents.keys()) {
    if (next.includes(name)) continue
    const free = next.indexOf(null)
    if (free < 0) next.push(name)
    else next[free] = name
  }
  while (next.length && next.at(-1) === null) next.pop()
  lanes.current = next
  return next.map(name => (name === null ? null : (agents.get(name) ?? null)))
}

function Lane({ agent, selected }: { agent: AgentRow; selected: boolean }) {
  const expected = usePicture(state => state.tasks.get(agent.task)?.expected_seconds ?? null)
  const needs = usePicture(state => state.tasks.get(agent.task)?.bucket === "needs_you")
  const now = useNow()
  const age = now - agent.since
  const whole = Math.max(age, (expected ?? age) * 1.15, 1)
  const you = needs || agent.asks !== ""
  const { usage } = agent
  return (
    <Link
      className={`lane ${you ? "you" : ""} ${selected ? "sel" : ""}`}
      href={`/tasks/${agent.task}`}
      data-cli={`interlock attach ${agent.task}`}
      aria-current={selected || undefined}
    >
      <Glyph mark={you ? "needs" : "running"} />
      <span className="who dim cut">{agent.agent}</span>
      <span className="tk id cut">
        {agent.task}
        {agent.attempt > 1 && <span className="dim"> #{agent.attempt}</span>}
      </span>
      <span className={`did cut ${you ? "c-needs" : "mid"}`}>
        <Inert text={agent.asks ? `asks: ${agent.asks}` : agent.last || "starting"} max={200} links={false} />
      </span>
      <span className={`ag num ${you ? "c-needs" : "dim"}`}>
        {agent.printed === null ? "" : lasting(now - agent.printed)}
      </span>
      <span className="pg row">
        <span className="prog">
          <i style={{ width: `${Math.min(100, (age / whole) * 100)}%` }} />
          {expected !== null && <b style={{ left: `${(expected / whole) * 100}%` }} />}
        </span>
        <span className="dim t11 nw">{lasting(age)}</span>
      </span>
      <span className="co num">
        {usage.cost_usd !== null ? dollars(usage.cost_usd) : short(usage.input_tokens + usage.output_tokens)}
      </span>
    </Link>
  )
}

/** One row for each agent at work. */
export function Lanes({ selected }: { selected: string | null }) {
  const agents = usePicture(state => state.agents)
  const slots = usePicture(state => state.frame?.pool.slots)
  const live = usePicture(state => state.frame?.run?.live ?? false)
  const lanes = useLanes(agents)
  const free = live && slots ? Math.max(0, slots.limit - lanes.length) : 0
  const waiting = [...agents.values()].filter(agent => agent.asks).length
  const money = [...agents.values()].some(agent => agent.usage.cost_usd !== null)
  const about = [
    live && slots ? `${slots.in_use} of ${counted(slots.limit, "slot")} in use` : "",
    waiting ? `${waiting} wait for you` : "",
  ]
  return (
    <section className="card lanes" aria-label="Agents">
      <header>
        <h2>Agents</h2>
        <span className="dim t12 cut">{about.filter(Boolean).join(", ")}</span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock agents" />
        </span>
      </header>
      {agents.size > 0 && (
        <div className="lane hd" aria-hidden="true">
          <span />
          <span className="who">agent</span>
          <span>task</span>
          <span>did last</span>
          <span className="num">ago</span>
          <span>time, of expected</span>
          <span className="num">{money ? "cost" : "tokens"}</span>
        </div>
      )}
      {lanes.map((agent, lane) =>
        // A lane is its place: an agent that starts takes a lane that is free.
        agent ? (
          <Lane key={agent.task} agent={agent} selected={agent.task === selected} />
        ) : (
          <div key={`free ${lane}`} className="lane free">
            <i className="g" />
            <span className="tk">free</span>
          </div>
        ),
      )}
      {Array.from({ length: Math.min(free, FREE_SHOWN) }, (_, lane) => (
        <div key={`slot ${lane}`} className="lane free">
          <i className="g" />
          <span className="tk">free</span>
        </div>
      ))}
      {agents.size === 0 && free === 0 && (
        <div className="empty">
          <b>No agent is running</b>
          {live
            ? "The next one starts as soon as a task may."
            : "A run starts them; this page follows by itself."}
          <br />
          {!live && <Cli line="interlock run" />}
        </div>
      )}
    </section>
  )
}
