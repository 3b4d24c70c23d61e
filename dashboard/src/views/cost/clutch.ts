/** The clutch as `interlock clutch --json` has it. Its document is free-form in the API: this is what the page reads of it. */
import type { Reason } from "../../api/types"

export interface Decision {
  time: number
  about: string
  limit: number
  brake: string
  why: Reason | null
}

export interface Provider {
  provider: string
  calls_at_once: number
  calls: number
  refused: number
  agents: number | null
  until: number | null
  why: Reason | null
}

export interface Category {
  category: string
  limit: { limit: number; brake: string; why: Reason | null; time: number }
  at_work: number
  queued: number
}

export interface Clutch {
  is_running: boolean
  limit: number
  brake: string
  why: Reason | null
  at_work: number
  categories: Category[]
  providers: Provider[]
  decisions: Decision[]
}
