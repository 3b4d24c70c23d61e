import type { View } from "../view"

function Page() {
  return <h1 className="vh">Cost &amp; limits</h1>
}

export const cost: View = {
  name: "cost",
  title: "Cost & limits",
  path: "/cost",
  icon: "cost",
  key: "c",
  command: "interlock clutch",
  keys: [],
  Page,
}
