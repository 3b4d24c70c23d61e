import { copy } from "../frame/copy"

/** The command line that does the same; a click copies it. */
export function Cli({ line }: { line: string }) {
  return (
    <button
      type="button"
      className="cli"
      title="Copy this command"
      data-cli={line}
      onClick={() => copy(line)}
    >
      <span>{line}</span>
    </button>
  )
}
