import type { View } from "../view"

function Page() {
  return <h1 className="vh">Graph</h1>
}

export const graph: View = {
  name: "graph",
  title: "Graph",
  path: "/graph",
  icon: "graph",
  key: "g",
  command: "interlock plan",
  keys: [],
  Page,
}
