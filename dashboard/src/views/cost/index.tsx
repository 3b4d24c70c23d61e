import { useState } from "react"
import type { BudgetsDocument, CostDocument } from "../../api/types"
import { useRead } from "../../api/use-read"
import { useSay } from "../../frame/command-bar"
import { useKeys } from "../../frame/keys"
import { Cli } from "../../parts/command"
import { Empty, Skeleton } from "../../parts/empty"
import { useCalmSeq } from "../../parts/every"
import { usePicture } from "../../store/picture"
import type { View } from "../view"
import { Budgets } from "./budgets"
import type { Clutch } from "./clutch"
import "./cost.css"
import { Figures } from "./figures"
import { HowMany, Providers } from "./limits"
import { OverTime } from "./over-time"
import { type Group, GROUPS, Table } from "./table"

const CALM_SECONDS = 3

function Nothing({ live }: { live: boolean }) {
  return (
    <div className="card">
      <Empty title="No agent has reported tokens yet" {...(live ? {} : { line: "interlock run" })}>
        {live
          ? "An attempt is counted when it ends. Agents that only print, such as scripts, report none."
          : "They are counted for each attempt of a run, however it ends."}
      </Empty>
    </div>
  )
}

function Page() {
  const ready = usePicture(state => state.frame !== null)
  const live = usePicture(state => state.frame?.run?.live ?? false)
  const version = useCalmSeq(CALM_SECONDS)
  const { data, error } = useRead<CostDocument>(ready ? "/api/cost" : null, version)
  const { data: left } = useRead<BudgetsDocument>(ready ? "/api/budgets" : null, version)
  const [by, group] = useState<Group>("agent")
  useKeys(Object.fromEntries(GROUPS.map((each, index) => [String(index + 1), () => group(each)])))
  useSay({ command: by === "agent" ? "interlock cost" : `interlock cost --by ${by}` })
  if (!data) return error ? <Empty title={error} line="interlock cost" /> : <Skeleton rows={10} />
  const clutch = data.clutch as unknown as Clutch
  return (
    <>
      <div className="ph">
        <h1>Cost &amp; limits</h1>
        <span className="dim t12 cut">all runs of this project</span>
        <span className="sp" />
        <span className="hide-n">
          <Cli line="interlock cost" />
        </span>
      </div>
      {data.attempts.length > 0 && <Figures cost={data} clutch={clutch} />}
      <div className="cg">
        <div className="stack">
          {data.attempts.length === 0 && <Nothing live={live} />}
          <OverTime cost={data} />
          {data.attempts.length > 0 && <Table key={by} cost={data} by={by} onGroup={group} />}
        </div>
        <div className="stack">
          {left && <Budgets rows={left.budgets} />}
          <HowMany clutch={clutch} />
          <Providers clutch={clutch} />
        </div>
      </div>
    </>
  )
}

export const cost: View = {
  name: "cost",
  title: "Cost & limits",
  path: "/cost",
  icon: "cost",
  key: "c",
  command: "interlock cost",
  keys: [["1 2 3 4 5 6", "by agent, task, model, category, day, story"]],
  Page,
}
