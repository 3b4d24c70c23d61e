/** Times and amounts in words. One clock ticks for the whole page. */
import { useSyncExternalStore } from "react"

const MINUTE = 60
const HOUR = 3600
const DAY = 86400

/** How long something takes: `41 s`, `9 min`, `2 h 5 min`, `3 d`. */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 90) return `${whole} s`
  if (whole < 90 * MINUTE) return `${Math.round(whole / MINUTE)} min`
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`
}

const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const secondFormat = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
})
const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })

/** The time of day, with the day where it is not today. Times are seconds since 1970. */
export function clock(time: number, now = Date.now() / 1000): string {
  const date = new Date(time * 1000)
  const day = date.toDateString() === new Date(now * 1000).toDateString() ? "" : `${dayFormat.format(date)} `
  return day + clockFormat.format(date)
}

export function clockWithSeconds(time: number): string {
  return secondFormat.format(new Date(time * 1000))
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 100 ? 2 : 0)}`
}

/** `950`, `12.3k`, `4.1M` */
export function short(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_500) return `${(count / 1000).toFixed(count < 99_500 ? 1 : 0)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

export function counted(count: number, word: string, many = `${word}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? word : many}`
}

// The clock of the server, as far as it is known: the age of a thing must not depend on the clock of this machine.
let offset = 0
let second = Math.floor(Date.now() / 1000)
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

export function setServerTime(time: number) {
  offset = time - Date.now() / 1000
}

/** In a replay the clock stands still at the moment that is shown. */
let frozen: number | null = null

export function freezeTime(time: number | null) {
  frozen = time
  tick()
}

export function serverNow(): number {
  return frozen ?? Date.now() / 1000 + offset
}

function tick() {
  const next = Math.floor(serverNow())
  if (next === second) return
  second = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= setInterval(tick, 250)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** The server's time in whole seconds; the component is drawn again each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => second)
}
