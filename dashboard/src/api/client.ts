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

/** There was no answer. Whether the request arrived is not known. */
export class Unreachable extends Error {}

const PATIENCE_MILLISECONDS = 60_000

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
  const patience = AbortSignal.timeout(PATIENCE_MILLISECONDS)
  const signal = init.signal ? AbortSignal.any([init.signal, patience]) : patience
  let answer: Response
  try {
    answer = await fetch(ofProject(path), { credentials: "same-origin", cache: "no-store", ...init, signal })
  } catch (error) {
    if (init.signal?.aborted) throw error
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
  try {
    return (await answer.json()) as T
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Unreachable("the answer of the server was cut off")
  }
}

/** A text, as it is. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  return (await send(path, signal ? { signal } : {})).text()
}

/** `key`: a name for what is asked. Sent again with the same one, it is done once. */
export async function write<T>(path: string, body: unknown, key = ""): Promise<T> {
  const answer = await send(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(key && { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
  })
  return (await answer.json().catch(() => ({}))) as T
}

/** Give the token of the address to the server, which answers with a cookie; then it leaves the address. */
export async function enter(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("t")
  if (!token) return
  try {
    await write("/api/session", { token })
  } catch (error) {
    // An older session of this browser may still be valid; the snapshot tells.
    if (!(error instanceof Refused)) throw error
  }
  history.replaceState(history.state, "", location.pathname + location.search)
}
