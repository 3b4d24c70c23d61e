import type { View } from "../view"

function Page() {
  return <h1 className="vh">Timeline</h1>
}

export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  path: "/timeline",
  icon: "timeline",
  key: "t",
  command: "interlock replay",
  keys: [],
  Page,
}
