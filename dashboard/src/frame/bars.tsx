import { Link } from "wouter"
import { Button, Outcome } from "../parts/button"
import { Cli } from "../parts/command"
import { Glyph } from "../parts/glyph"
import { Icon, Logo } from "../parts/icon"
import { Inert } from "../parts/inert"
import { clock, counted, lasting, useNow } from "../parts/time"
import { useAct } from "../api/act"
import { usePicture } from "../store/picture"
import { holdView } from "../store/stream"
import { VIEWS } from "../views"
import type { View } from "../views/view"
import { ProjectName } from "./projects"
import { nextTheme, useTheme } from "./theme"

const LISTED = VIEWS.filter(view => view.key)
const TABS = ["now", "inbox", "timeline", "train"]

function useCount(view: View): number {
  return usePicture(state =>
    view.name === "inbox" ? state.inbox.length : view.name === "train" ? (state.queue?.queue.length ?? 0) : 0,
  )
}

function Count({ view }: { view: View }) {
  const count = useCount(view)
  if (!count) return null
  return <span className={view.name === "inbox" ? "pill needs" : "pill"}>{count}</span>
}

/** The key that opens a page, where no count is in its place. */
function Key({ view }: { view: View }) {
  const counted = useCount(view)
  return counted ? null : (
    <span className="key" aria-hidden="true">
      g {view.key}
    </span>
  )
}

function isCurrent(view: View, path: string): boolean {
  return view.path === path || (view.name === "board" && path.startsWith("/tasks/"))
}

export function Nav({ path }: { path: string }) {
  const theme = useTheme()
  return (
    <nav className="nav" aria-label="Pages">
      <Link className="brand" href="/">
        <Logo />
        <span>Interlock</span>
      </Link>
      {LISTED.map(view => (
        <Link
          key={view.name}
          href={view.path}
          className="n"
          title={view.title}
          data-cli={view.command}
          aria-current={isCurrent(view, path) ? "page" : undefined}
        >
          <Icon name={view.icon} />
          <span className="label">{view.title}</span>
          <Count view={view} />
          <Key view={view} />
        </Link>
      ))}
      <div className="sp" />
      <button type="button" className="n" onClick={nextTheme} title="Theme">
        <Icon name="theme" />
        <span className="label">Theme: {theme || "from system"}</span>
      </button>
    </nav>
  )
}

export function Tabs({ path }: { path: string }) {
  return (
    <nav className="tabs" aria-label="Pages">
      {LISTED.filter(view => TABS.includes(view.name)).map(view => (
        <Link key={view.name} href={view.path} aria-current={isCurrent(view, path) ? "page" : undefined}>
          <Icon name={view.icon} size={20} />
          {view.title.replace("Merge train", "Train")}
          <Count view={view} />
        </Link>
      ))}
      <Link href="/more" aria-current={path === "/more" ? "page" : undefined}>
        <Icon name="more" size={20} />
        More
      </Link>
    </nav>
  )
}

/** The pages that have no tab on a phone. */
export function More() {
  const theme = useTheme()
  return (
    <section className="card">
      <h1 className="vh">More pages</h1>
      {LISTED.filter(view => !TABS.includes(view.name)).map(view => (
        <Link key={view.name} href={view.path} className="more">
          <Icon name={view.icon} />
          {view.title}
        </Link>
      ))}
      <button type="button" className="more" onClick={nextTheme}>
        <Icon name="theme" />
        Theme: {theme || "from system"}
      </button>
    </section>
  )
}

const LATE_SECONDS = 3
const LOST_SECONDS = 30

/** "live", or how old the picture is and why. */
function Liveness() {
  const link = usePicture(state => state.link)
  const heard = usePicture(state => Math.floor(state.heard))
  const problem = usePicture(state => state.problem)
  const seq = usePicture(state => state.seq)
  const held = usePicture(state => state.held)
  const replays = usePicture(state => state.at !== null)
  useNow()
  if (link === "opening" || (link === "denied" && !heard)) return null
  const age = Math.max(0, Date.now() / 1000 - heard)
  if (link === "live" && age <= LATE_SECONDS + 1) {
    if (replays) return <span className="live late">past moment</span>
    if (held) return <span className="live late">view paused at fact {seq}</span>
    return (
      <span className="live" title={`Position in the log: ${seq}`}>
        live
      </span>
    )
  }
  const why = problem ? "the log cannot be read" : link === "lost" ? "server does not answer" : ""
  const last = heard ? `last update ${lasting(age)} ago` : ""
  return (
    <span className={`live ${age > LOST_SECONDS ? "lost" : "late"}`} role="status" title={problem}>
      {[held ? `view paused at fact ${seq}` : "", why, last].filter(Boolean).join(", ")}
      {link === "lost" && !problem && <code className="opt"> interlock serve</code>}
    </span>
  )
}

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const branch = usePicture(state => state.frame?.main.branch ?? "")
  const run = usePicture(state => state.frame?.run ?? null)
  const held = usePicture(state => state.held)
  const paused = usePicture(state => state.frame?.paused ?? false)
  const replays = usePicture(state => state.at !== null)
  const act = useAct()
  const pause = paused ? "unpause" : "pause"
  return (
    <header className="top">
      <div className="crumb">
        <ProjectName />
        {branch && (
          <>
            <span className="sep">/</span>
            <span className="mid">{branch}</span>
          </>
        )}
        {run && (
          <>
            <span className="sep only-wide">/</span>
            <span className="dim only-wide">
              {run.ended === null
                ? `run started ${clock(run.started)}`
                : `last run ended ${clock(run.ended)}`}
            </span>
          </>
        )}
      </div>
      <Liveness />
      <Outcome act={act.state === "refused" ? act : { ...act, state: "idle" }} />
      <div className="sp" />
      <button type="button" className="search" onClick={onSearch}>
        <Icon name="find" size={14} />
        <span>Find or run a command</span>
        <kbd>⌘K</kbd>
      </button>
      {!replays && (
        <Button
          className="opt only-wide"
          pressed={held}
          hotkey="space"
          title="Freezes this page only; agents go on"
          onPress={() => holdView(!held)}
        >
          {held ? "Go on" : "Pause view"}
        </Button>
      )}
      {run?.live && !replays && (
        <Button
          className="opt"
          line={`interlock ${pause}`}
          title="Starts nothing new; agents at work go on to their end"
          disabled={act.state === "busy"}
          onPress={() => void act.run(pause, {})}
        >
          {paused ? "Unpause run" : "Pause run"}
        </Button>
      )}
    </header>
  )
}

/** One amber line on every page but Now and Inbox, which show the same at length. */
export function AttentionLine({ path }: { path: string }) {
  const inbox = usePicture(state => state.inbox)
  const denied = usePicture(state => state.link === "denied")
  const first = inbox[0]
  if (denied)
    return (
      <div className="attn" role="status">
        <Glyph mark="needs" />
        <b className="semi nw">This page needs a new token</b>
        <span className="cut sp">
          Open the address of the command in this browser: the page goes on by itself.
        </span>
        <Cli line="interlock ui --print-url" />
      </div>
    )
  if (!first || path === "/" || path === "/inbox") return <span />
  return (
    <div className="attn" role="status">
      <Glyph mark={first.kind === "red-main" ? "failed" : "needs"} />
      <b className="semi nw">{counted(inbox.length, "needs you", "need you")}</b>
      <Link className="cut sp" href="/inbox">
        {first.task && <span className="id">{first.task} </span>}
        <Inert text={first.text} max={300} links={false} />
      </Link>
      <span className="opt row">
        <Cli line="interlock inbox" />
      </span>
      <Link className="btn opt" href="/inbox">
        Open inbox <kbd>g i</kbd>
      </Link>
    </div>
  )
}
