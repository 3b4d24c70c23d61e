/** All pages, in the order in which the frame lists them. */
import { board } from "./board"
import { cost } from "./cost"
import { graph } from "./graph"
import { health } from "./health"
import { inbox } from "./inbox"
import { now } from "./now"
import { task } from "./task"
import { timeline } from "./timeline"
import { train } from "./train"
import type { View } from "./view"

export const VIEWS: View[] = [now, inbox, timeline, graph, board, train, cost, health, task]
