import type { View } from "../view"

function Page() {
  return <h1 className="vh">Health</h1>
}

export const health: View = {
  name: "health",
  title: "Health",
  path: "/health",
  icon: "health",
  key: "h",
  command: "interlock doctor",
  keys: [],
  Page,
}
