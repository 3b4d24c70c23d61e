import type { ReactNode } from "react"
import { useMemo } from "react"
import type { CostDocument } from "../../api/types"
import { counted, dollars, short } from "../../parts/time"
import { usePicture } from "../../store/picture"
import type { Clutch } from "./clutch"

function Figure({ name, value, about }: { name: string; value: ReactNode; about: string }) {
  return (
    <div className="fig">
      <div className="l">{name}</div>
      <div className="v">{value}</div>
      <div className="s" title={about}>
        {about}
      </div>
    </div>
  )
}

const percent = (part: number, whole: number) => `${Math.round((part / Math.max(1, whole)) * 100)} %`

function aboutMoney({ usage }: CostDocument, landed: number): string {
  const unknown = usage.unpriced_tokens ? `; ${short(usage.unpriced_tokens)} tokens of unknown price` : ""
  const each = landed ? `${dollars((usage.cost_usd ?? 0) / landed)} per landed change` : "nothing landed yet"
  return each + unknown
}

/** What was used, and what of it led nowhere. A figure without data is not drawn. */
export function Figures({ cost, clutch }: { cost: CostDocument; clutch: Clutch }) {
  const tasks = usePicture(state => state.tasks)
  const landed = usePicture(state => state.frame?.buckets.landed ?? 0)
  const lost = useMemo(() => {
    const failed = [...tasks.values()].filter(row => row.bucket === "failed")
    const tokens = failed.reduce((sum, row) => sum + row.usage.input_tokens + row.usage.output_tokens, 0)
    return { tokens, tasks: failed.length }
  }, [tasks])
  const { usage } = cost
  const tokens = usage.input_tokens + usage.output_tokens
  return (
    <section className="strip" aria-label="All runs">
      <div className="cf">
        {usage.cost_usd !== null && (
          <Figure name="spent" value={dollars(usage.cost_usd)} about={aboutMoney(cost, landed)} />
        )}
        <Figure
          name="tokens"
          value={short(tokens)}
          about={`${short(usage.input_tokens)} in, ${short(usage.output_tokens)} out`}
        />
        {usage.cached_tokens > 0 && (
          <Figure
            name="from a cache"
            value={percent(usage.cached_tokens, usage.input_tokens)}
            about={`${short(usage.cached_tokens)} of the tokens in`}
          />
        )}
        {usage.calls > 0 && (
          <Figure
            name="calls of a model"
            value={short(usage.calls)}
            about={`${short(Math.round(tokens / usage.calls))} tokens each`}
          />
        )}
        {landed > 0 && tokens > 0 && (
          <Figure
            name="per landed change"
            value={short(Math.round(tokens / landed))}
            about={`tokens; ${counted(landed, "change")} landed`}
          />
        )}
        {tokens > 0 && (
          <Figure
            name="landed nothing"
            value={short(lost.tokens)}
            about={`tokens on ${counted(lost.tasks, "failed task")}`}
          />
        )}
        {clutch.is_running && clutch.limit > 0 && (
          <Figure
            name="agents now"
            value={
              <>
                {clutch.at_work} <small>of {clutch.limit}</small>
              </>
            }
            about={clutch.brake}
          />
        )}
      </div>
    </section>
  )
}
