/** A unified diff of git as files, hunks and numbered lines. */

export interface DiffLine {
  kind: "add" | "del" | "same" | "note"
  old: number | null
  new: number | null
  text: string
}

export interface Hunk {
  header: string
  lines: DiffLine[]
}

export interface FileDiff {
  path: string
  /** The former path of a file that moved. */
  from: string
  kind: "changed" | "new file" | "deleted" | "renamed" | "mode" | "binary"
  hunks: Hunk[]
  added: number
  removed: number
}

/** git quotes paths with special characters as C does. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path
  const bytes: number[] = []
  const escapes: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 }
  const inner = path.slice(1, path.endsWith('"') ? -1 : undefined)
  for (const [part] of inner.matchAll(/\\([0-7]{3}|.)|[^\\]+/gs)) {
    if (!part.startsWith("\\")) bytes.push(...new TextEncoder().encode(part))
    else if (/^[0-7]{3}$/.test(part.slice(1))) bytes.push(Number.parseInt(part.slice(1), 8))
    else bytes.push(escapes[part[1] ?? ""] ?? part.charCodeAt(1))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

function pathOf(line: string): string {
  const path = unquoted(line.slice(4).replace(/\t$/, ""))
  return path === "/dev/null" ? "" : path.replace(/^[ab]\//, "")
}

/** The path of a header without `---` and `+++` lines: `diff --git a/x b/x`. */
function pathInHeader(line: string): string {
  const words = line.slice("diff --git ".length)
  if (words.startsWith('"')) return unquoted(words.slice(0, words.indexOf('" ') + 1)).replace(/^a\//, "")
  return words.slice(2, (words.length - 1) / 2)
}

function hunkStart(header: string): [number, number] {
  const found = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header)
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)]
}

/** Reads one header line of a file. */
function header(file: FileDiff, line: string) {
  if (line.startsWith("--- ")) file.from = pathOf(line)
  else if (line.startsWith("+++ ")) file.path = pathOf(line) || file.from || file.path
  else if (line.startsWith("rename from ")) {
    file.from = unquoted(line.slice(12))
    file.kind = "renamed"
  } else if (line.startsWith("rename to ")) file.path = unquoted(line.slice(10))
  else if (line.startsWith("new file")) file.kind = "new file"
  else if (line.startsWith("deleted file")) file.kind = "deleted"
  else if (line.startsWith("new mode")) file.kind = "mode"
  else if (line.startsWith("Binary files") || line.startsWith("GIT binary patch")) file.kind = "binary"
}

export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = []
  let file: FileDiff | undefined
  let hunk: Hunk | undefined
  let [old, next] = [0, 0]
  for (const line of text.split("\n")) {
    if (line.startsWith("diff --git ")) {
      file = { path: pathInHeader(line), from: "", kind: "changed", hunks: [], added: 0, removed: 0 }
      files.push(file)
      hunk = undefined
    } else if (!file) {
      // Nothing before the first file belongs to the diff.
    } else if (line.startsWith("@@ ")) {
      hunk = { header: line, lines: [] }
      file.hunks.push(hunk)
      ;[old, next] = hunkStart(line)
    } else if (!hunk) header(file, line)
    else if (line.startsWith("+")) {
      hunk.lines.push({ kind: "add", old: null, new: next++, text: line.slice(1) })
      file.added++
    } else if (line.startsWith("-")) {
      hunk.lines.push({ kind: "del", old: old++, new: null, text: line.slice(1) })
      file.removed++
    } else if (line.startsWith(" "))
      hunk.lines.push({ kind: "same", old: old++, new: next++, text: line.slice(1) })
    else if (line.startsWith("\\"))
      hunk.lines.push({ kind: "note", old: null, new: null, text: line.slice(2) })
  }
  return files
}

export function lineCount(file: FileDiff): number {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
}
