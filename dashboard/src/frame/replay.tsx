import { useEffect } from "react"
import { useSearch } from "wouter"
import { Button } from "../parts/button"
import { Cli } from "../parts/command"
import { clock, clockWithSeconds, serverNow, useNow } from "../parts/time"
import { usePicture } from "../store/picture"
import { showMoment } from "../store/stream"
import { copy, linkToMoment } from "./copy"
import { useKeys } from "./keys"

/** Pages of what only the present has: the machine, and sums over the whole log. */
const OF_NOW = ["/health", "/cost"]

/** Keep the moment in the address, on each page: it can be copied, and the page be loaded again. */
export function useMomentInAddress(path: string) {
  const at = usePicture(state => state.at)
  const opening = usePicture(state => state.link === "opening")
  const search = useSearch()
  useEffect(() => {
    if (opening) return
    const url = new URL(location.href)
    if (url.searchParams.get("at") === (at === null ? null : String(at))) return
    if (at === null) url.searchParams.delete("at")
    else url.searchParams.set("at", String(at))
    history.replaceState(history.state, "", url)
  }, [path, search, at, opening])
}

/** On every page, while a past moment is shown: which one, a way along the log, and the way back. */
export function ReplayLine({ path }: { path: string }) {
  const at = usePicture(state => state.at)
  const missing = usePicture(state => state.noMoment)
  if (at !== null) return <Scrubber at={at} ofNow={OF_NOW.includes(path)} />
  if (!missing) return null
  return (
    <div className="replay" role="status">
      <b className="semi nw">No such moment</b>
      <span className="cut sp">{missing}</span>
      <Button onPress={() => void showMoment(null)}>Close</Button>
    </div>
  )
}

function Scrubber({ at, ofNow }: { at: number; ofNow: boolean }) {
  const head = usePicture(state => state.head)
  useNow()
  const now = serverNow()
  const step = (by: number) => void showMoment({ at: Math.max(1, Math.min(head, at + by)) })
  useKeys({
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    "shift+ArrowLeft": () => void showMoment({ time: now - 60 }),
    "shift+ArrowRight": () => void showMoment({ time: now + 60 }),
    l: () => void showMoment(null),
  })
  const day = clock(now).slice(0, -5)
  return (
    <section className="replay" aria-label="Replay">
      <b className="semi nw">Replay</b>
      <span className="nw" role="status">
        {day}
        {clockWithSeconds(now)}
      </span>
      <span className="dim nw">
        fact {at.toLocaleString("en")} of {head.toLocaleString("en")}
      </span>
      {ofNow && <b className="med">this page is of now</b>}
      <Button title="One fact back" hotkey="←" onPress={() => step(-1)} disabled={at <= 1}>
        Back
      </Button>
      <input
        type="range"
        min={1}
        max={Math.max(head, at)}
        value={at}
        aria-label="Fact of the log"
        aria-valuetext={`fact ${at}, ${clockWithSeconds(now)}`}
        onChange={event => void showMoment({ at: Number(event.target.value) })}
      />
      <Button title="One fact on" hotkey="→" onPress={() => step(1)} disabled={at >= head}>
        Next
      </Button>
      <span className="opt only-wide">
        <Cli line={`interlock replay --at ${at}`} />
      </span>
      <Button className="opt" hotkey="Y" onPress={() => void copy(linkToMoment(at))}>
        Copy link
      </Button>
      <Button kind="pri" hotkey="l" onPress={() => void showMoment(null)}>
        Live
      </Button>
    </section>
  )
}
