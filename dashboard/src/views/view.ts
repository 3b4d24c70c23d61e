import type { ComponentType } from "react"
import type { IconName } from "../parts/icon"

/** A page of the dashboard. Each one is a folder in `views`, and stands in the list of `views/index.ts`. */
export interface View {
  name: string
  title: string
  /** Where it is: `/board`. A part like `:task` is given to the component. */
  path: string
  icon: IconName
  /** `g` and this key open it; none: it is opened from another page. */
  key?: string
  /** The command that shows the same in the terminal. */
  command: string
  /** Keys of this page, as the command bar lists them. */
  keys: [key: string, what: string][]
  /** True: the page fills the window and scrolls by itself. */
  flush?: boolean
  Page: ComponentType<{ params: Record<string, string | undefined> }>
}
