import { Suspense, useEffect, useRef, useState } from "react"
import { Route, Switch, useLocation } from "wouter"
import { Skeleton } from "../parts/empty"
import { usePicture } from "../store/picture"
import { holdView } from "../store/stream"
import { VIEWS } from "../views"
import { CommandBar, type PageWords, usePageWords } from "./command-bar"
import { Denied, NoView } from "./states"
import { AttentionLine, More, Nav, Tabs, TopBar } from "./bars"
import { AllKeys } from "./all-keys"
import { copy, linkToMoment } from "./copy"
import { useKeys, type Keys } from "./keys"
import { Palette } from "./palette"
import { ReplayLine, useMomentInAddress } from "./replay"

type Over = "" | "palette" | "keys"

/** The whole page: frame and view. */
export function App() {
  const [over, setOver] = useState<Over>("")
  const [path, go] = useLocation()
  const denied = usePicture(state => state.link === "denied" && state.frame === null)
  const held = usePicture(state => state.held)
  const seq = usePicture(state => state.seq)
  const replays = usePicture(state => state.at !== null || state.noMoment !== "")
  const main = useRef<HTMLElement>(null)
  const view =
    VIEWS.find(each => each.path === path) ??
    VIEWS.find(each => each.path.includes(":") && path.startsWith(each.path.split(":")[0] ?? ""))
  const words: PageWords = usePageWords(view)

  const keys: Keys = {
    "mod+k": () => setOver(now => (now === "palette" ? "" : "palette")),
    "/": () => setOver("palette"),
    "?": () => setOver("keys"),
    Escape: () => setOver(""),
    space: () => holdView(!held),
    y: () => void copy(words.command),
    Y: () => void copy(linkToMoment(seq)),
  }
  for (const each of VIEWS) if (each.key) keys[`g ${each.key}`] = () => go(each.path)
  useKeys(keys)
  useMomentInAddress(path)

  useEffect(() => {
    document.title = `${words.title} - Interlock`
    main.current?.focus({ preventScroll: true })
    main.current?.scrollTo(0, 0)
  }, [path, words.title])

  return (
    <div className="app">
      <Nav path={path} />
      <TopBar onSearch={() => setOver("palette")} />
      {denied ? <span /> : replays ? <ReplayLine path={path} /> : <AttentionLine path={path} />}
      <main className={`main ${view?.flush && !denied ? "flush" : ""}`} tabIndex={-1} ref={main}>
        {denied ? (
          <Denied />
        ) : (
          <Suspense fallback={<Skeleton rows={8} />}>
            <Switch>
              {VIEWS.map(each => (
                <Route key={each.name} path={each.path}>
                  {params => <each.Page params={params as Record<string, string | undefined>} />}
                </Route>
              ))}
              <Route path="/more">
                <More />
              </Route>
              <Route>
                <NoView />
              </Route>
            </Switch>
          </Suspense>
        )}
      </main>
      <CommandBar words={words} />
      <Tabs path={path} />
      {over === "palette" && <Palette onClose={() => setOver("")} />}
      {over === "keys" && <AllKeys view={view} onClose={() => setOver("")} />}
    </div>
  )
}
