import { useMemo } from "react"
import { useLocation } from "wouter"
import type { HealthDocument } from "../../api/types"
import { useRead } from "../../api/use-read"
import { useKeys } from "../../frame/keys"
import { Cli } from "../../parts/command"
import { Empty, Skeleton } from "../../parts/empty"
import { useCalmSeq, useEvery } from "../../parts/every"
import { useSelection } from "../../parts/selection"
import { counted } from "../../parts/time"
import { usePicture } from "../../store/picture"
import { Measured } from "../now/measured"
import type { View } from "../view"
import { Doctor } from "./doctor"
import { Errors, Flaky } from "./errors"
import "./health.css"
import { Log } from "./log"
import { Machine } from "./machine"

const CALM_SECONDS = 3
const MACHINE_SECONDS = 10

function summary(health: HealthDocument): string {
  const bad = health.findings.filter(each => each.health !== "ok").length
  const parts = [
    health.errors.length ? counted(health.errors.length, "kind of error", "kinds of errors") : "no errors",
    bad ? `${counted(bad, "finding")} to look at` : "nothing else to look at",
  ]
  return parts.join(", ")
}

function Page() {
  const ready = usePicture(state => state.frame !== null)
  const seq = useCalmSeq(CALM_SECONDS)
  const tick = useEvery(MACHINE_SECONDS)
  const version = `${seq} ${tick}`
  const { data, error } = useRead<HealthDocument>(ready ? "/api/health" : null, version)
  const ids = useMemo(() => data?.errors.map(each => each.id) ?? [], [data])
  const [selected] = useSelection(ids)
  const [, go] = useLocation()
  const task = data?.errors.find(each => each.id === selected)?.open[0]
  useKeys({
    "↵": () => task && go(`/tasks/${encodeURIComponent(task)}`),
    e: () => document.querySelector("[aria-label=Errors]")?.scrollIntoView({ block: "start" }),
    l: () => document.querySelector("[aria-label=Log]")?.scrollIntoView({ block: "start" }),
  })
  if (!data) return error ? <Empty title={error} line="interlock doctor" /> : <Skeleton rows={10} />
  return (
    <>
      <div className="ph">
        <h1>Health</h1>
        <span className="dim t12 cut">{summary(data)}</span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock doctor" />
        </span>
      </div>
      <div className="hg">
        <div className="stack">
          <Errors health={data} selected={ids.length > 1 ? selected : null} />
          <Flaky checks={data.flaky} />
          <Log health={data} />
        </div>
        <div className="stack">
          <Machine health={data} />
          <Doctor findings={data.findings} />
          <Measured />
        </div>
      </div>
    </>
  )
}

export const health: View = {
  name: "health",
  title: "Health",
  path: "/health",
  icon: "health",
  key: "h",
  command: "interlock doctor",
  keys: [
    ["j k", "move"],
    ["↵", "open the task"],
    ["e", "errors"],
    ["l", "log"],
  ],
  Page,
}
