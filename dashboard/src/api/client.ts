/** Requests to the server that this page came from. */

/** An answer that is not what was asked for, in the server's words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
  ) {
    super(message)
  }
}

/** The server could not be reached at all. */
export class Unreachable extends Error {}

interface Problem {
  error?: { message?: string; hint?: string }
}

const KEPT = "interlock.project"
const wanted = new URLSearchParams(location.search).get("project")
if (wanted !== null) sessionStorage.setItem(KEPT, wanted)

/** The project of this tab; empty: the first one of the server. */
export function project(): string {
  return sessionStorage.getItem(KEPT) ?? ""
}

/** Show another project of the same server. */
export function showProject(name: string) {
  sessionStorage.setItem(KEPT, name)
  location.assign("/")
}

/** The path with the project of this tab. */
export function ofProject(path: string): string {
  const name = project()
  return name ? `${path}${path.includes("?") ? "&" : "?"}project=${encodeURIComponent(name)}` : path
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(ofProject(path), { credentials: "same-origin", cache: "no-store", ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw new Unreachable("the server does not answer")
  }
  if (answer.ok) return answer
  const { error } = (await answer.json().catch(() => ({}))) as Problem
  throw new Refused(
    answer.status,
    error?.message ?? `the server answered ${answer.status}`,
    error?.hint ?? "",
  )
}

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await send(path, { headers: { accept: "application/json" }, ...(signal && { signal }) })
  return (await answer.json()) as T
}

/** A text, as it is. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  return (await send(path, signal ? { signal } : {})).text()
}

export async function write<T>(path: string, body: unknown): Promise<T> {
  const answer = await send(path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  })
  return (await answer.json().catch(() => ({}))) as T
}

/** Give the token of the address to the server, which answers with a cookie; then it leaves the address. */
export async function enter(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("t")
  if (!token) return
  history.replaceState(history.state, "", location.pathname + location.search)
  await write("/api/session", { token })
}
