import type { View } from "../view"

function Page() {
  return <h1 className="vh">Merge train</h1>
}

export const train: View = {
  name: "train",
  title: "Merge train",
  path: "/train",
  icon: "train",
  key: "m",
  command: "interlock queue",
  keys: [],
  Page,
}
