import { useEffect, useRef } from "react"
import { Cli } from "../../parts/command"
import { Empty } from "../../parts/empty"
import { Inert } from "../../parts/inert"
import type { Growing } from "./use-growing"

/** The output of the agent's program, as it is printed. */
export function Output({ task, output, live }: { task: string; output: Growing<string>; live: boolean }) {
  const box = useRef<HTMLPreElement>(null)
  const text = output.rows.join("")
  const length = text.length
  useEffect(() => {
    const scroller = box.current?.closest(".middle")
    const isAtEnd = scroller && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 200
    if (scroller && (isAtEnd || scroller.scrollTop === 0) && length)
      scroller.scrollTop = scroller.scrollHeight
  }, [length])
  if (!output.ready) return null
  if (!text)
    return (
      <Empty title={output.error || "It has printed nothing"} line={`interlock logs ${task} --raw`}>
        {live ? "What it prints comes here by itself." : ""}
      </Empty>
    )
  return (
    <>
      {output.cut && (
        <p className="empty">
          Only its end is shown. <Cli line={`interlock logs ${task} --raw`} />
        </p>
      )}
      <pre className="output" ref={box}>
        <Inert text={text} max={400_000} />
      </pre>
    </>
  )
}
