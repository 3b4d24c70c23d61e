import { Link } from "wouter"
import type { Bucket, Frame, Provider, TaskRow } from "../../api/types"
import { BUCKETS, inBuckets, ORDER } from "../../parts/buckets"
import { Glyph } from "../../parts/glyph"
import { Inert } from "../../parts/inert"
import { clock, counted, dollars, lasting, short } from "../../parts/time"
import { usePicture } from "../../store/picture"

const LINKS: Partial<Record<Bucket, string>> = {
  needs_you: "/inbox",
  train: "/train",
  blocked: "/graph",
  failed: "/health",
}
const EACH_CELL = 200
/** Up to this many tasks each one has a cell; above, each group has a part of the bar. */

/** Of the failed tasks, the most that share a failure. */
function alikeWords(frame: Frame, tasks: ReadonlyMap<string, TaskRow>): string {
  const failed = frame.alike.map(
    each => each.tasks.filter(name => tasks.get(name)?.bucket === "failed").length,
  )
  const most = Math.max(0, ...failed)
  return most > 1 ? `${most} fail alike` : ""
}

/** What the number means right now, in a few words. */
function cause(bucket: Bucket, frame: Frame, tasks: ReadonlyMap<string, TaskRow>): string {
  const slots = frame.pool.slots
  const live = frame.run?.live ?? false
  if (bucket === "landed") return `of ${counted(tasks.size, "task")}`
  if (!frame.buckets[bucket]) return ""
  if (bucket === "working") return live ? `${slots.in_use} of ${slots.limit} slots` : "no run is active"
  if (bucket === "ready") return live ? (slots.free ? "start next" : "wait for a slot") : "wait for a run"
  if (bucket === "train" && frame.main.frozen) return "held: main is red"
  if (bucket === "failed") return alikeWords(frame, tasks)
  return ""
}

function Figure({ bucket, frame }: { bucket: Bucket; frame: Frame }) {
  const tasks = usePicture(state => state.tasks)
  const waiting = usePicture(state => state.inbox.length)
  const count = bucket === "needs_you" ? waiting : (frame.buckets[bucket] ?? 0)
  const { title, mark } = BUCKETS[bucket]
  return (
    <Link
      href={LINKS[bucket] ?? "/board"}
      className={`fig ${bucket === "needs_you" ? (count ? "you hot" : "you") : ""}`}
    >
      <div className="l">
        <Glyph mark={mark} />
        {bucket === "needs_you" ? "need you" : title.toLowerCase()}
      </div>
      <div className={`v ${count ? "" : "zero"}`}>{count.toLocaleString("en")}</div>
      <div className="s">{cause(bucket, frame, tasks)}</div>
    </Link>
  )
}

function Finish({ frame }: { frame: Frame }) {
  const { run } = frame
  if (!run) return null
  const words = run.live
    ? run.seconds_to_go === null
      ? ["likely finished", "unknown", "no times of such tasks yet"]
      : ["likely finished", clock(frame.time + run.seconds_to_go), `about ${lasting(run.seconds_to_go)} left`]
    : [
        "run ended",
        run.ended ? clock(run.ended) : "unknown",
        run.ended_why?.text ?? "it stopped without a word",
      ]
  return (
    <Link href="/timeline" className="fig wide">
      <div className="l">{words[0]}</div>
      <div
        className={`v ${words[1] === "unknown" ? "zero" : ""} ${(words[1]?.length ?? 0) > 7 ? "long" : ""}`}
      >
        {words[1]}
      </div>
      <div className="s">
        <Inert text={words[2]} max={120} links={false} />
      </div>
    </Link>
  )
}

function Spent({ frame }: { frame: Frame }) {
  const { usage } = frame
  const tokens = usage.input_tokens + usage.output_tokens
  const known = usage.cost_usd !== null
  return (
    <Link href="/cost" className="fig wide">
      <div className="l">{known ? "spent" : "tokens"}</div>
      <div className={`v ${known || tokens ? "" : "zero"}`}>
        {known ? dollars(usage.cost_usd ?? 0) : short(tokens)}
      </div>
      <div className="s">
        {known
          ? `${short(tokens)} tokens in ${counted(usage.calls, "call")}`
          : tokens
            ? "no agent reports money"
            : "none reported yet"}
      </div>
    </Link>
  )
}

function Cells() {
  const tasks = usePicture(state => state.tasks)
  const groups = inBuckets(tasks.values())
  const label = ORDER.filter(bucket => groups[bucket].length)
    .map(bucket => `${groups[bucket].length} ${BUCKETS[bucket].title.toLowerCase()}`)
    .join(", ")
  const many = tasks.size > EACH_CELL
  return (
    <div
      className={`cells ${many ? "many" : ""}`}
      role="img"
      aria-label={`${counted(tasks.size, "task")}: ${label}`}
    >
      {ORDER.map(bucket =>
        many
          ? groups[bucket].length > 0 && (
              <i key={bucket} className={`k-${bucket}`} style={{ flex: groups[bucket].length }} />
            )
          : groups[bucket].map(row => (
              <i key={row.id} className={`k-${bucket}`} title={`${row.id}: ${row.reason.text}`} />
            )),
      )}
    </div>
  )
}

/** The limits of each provider, where some are in use. */
function Weather({ frame }: { frame: Frame }) {
  const providers = Object.entries((frame.clutch.providers ?? {}) as Record<string, Provider>)
  if (!providers.length) return null
  return (
    <div className="weather" role="group" aria-label="Providers">
      {providers.slice(0, 4).map(([name, provider]) => (
        <div className="row" key={name}>
          <b className="med nw">{name}</b>
          {provider.limit != null && (
            <span className="nw mid">at most {Math.round(provider.limit)} calls</span>
          )}
          <span className="cut dim">{provider.why?.text}</span>
        </div>
      ))}
    </div>
  )
}

/** Is it going well? Seven counts, one cell for each task, the likely end and what it cost. */
export function Strip({ frame }: { frame: Frame }) {
  return (
    <section className="strip" aria-label="The run">
      <div className="figs">
        {ORDER.map(bucket => (
          <Figure key={bucket} bucket={bucket} frame={frame} />
        ))}
        <Finish frame={frame} />
        <Spent frame={frame} />
      </div>
      <Cells />
      <Weather frame={frame} />
    </section>
  )
}
