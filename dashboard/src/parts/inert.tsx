/** Texts of agents and programs: nothing in them can act, and nothing in them can hide. */
import { Fragment, memo, type ReactNode } from "react"

// Terminal codes: CSI and OSC sequences, and the short escapes.
const TERMINAL =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g
// Control characters but tab and newline; marks that change the direction of text or have no width.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u
const PARTS = new RegExp(`(https?://(?:(?!${UNSEEN.source})[^\\s<>"'\`])+)|(${UNSEEN.source})`, "gu")

/** Text without terminal codes; a carriage return before a newline is part of the newline. */
export function plain(text: string): string {
  return text.replace(TERMINAL, "").replace(/\r+\n/g, "\n")
}

const unseenName = (letter: string) =>
  `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`

/** The same as a text, for an attribute. */
export function inertText(text: string, max: number): string {
  return plain(text.slice(0, max)).replace(new RegExp(UNSEEN.source, "gu"), unseenName)
}

function pieces(text: string, links: boolean): ReactNode[] {
  const found: ReactNode[] = []
  let from = 0
  for (const match of text.matchAll(PARTS)) {
    const [whole, url, unseen] = match
    if (url && !links) continue
    if (match.index > from) found.push(text.slice(from, match.index))
    if (unseen) {
      const name = unseenName(unseen)
      found.push(
        <span key={match.index} className="unseen" title={`invisible character ${name}`}>
          {name}
        </span>,
      )
    } else {
      found.push(<Outside key={match.index} href={whole} />)
    }
    from = match.index + whole.length
  }
  found.push(text.slice(from))
  return found
}

/** A link out of the page: only http and https, and the other side does not learn where it came from. */
export function Outside({ href, children }: { href: string; children?: ReactNode }) {
  if (!/^https?:\/\//i.test(href)) return <Fragment>{children ?? href}</Fragment>
  return (
    <a className="link" href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children ?? href}
    </a>
  )
}

/** Show a text. `max` characters at most, so that no text can make the page slow. */
export const Inert = memo(function Inert(props: {
  text: string | null | undefined
  max?: number
  links?: boolean
}) {
  const { max = 20_000, links = true } = props
  const text = plain((props.text ?? "").slice(0, max * 2)).slice(0, max)
  const rest = (props.text?.length ?? 0) - max
  return (
    <bdi>
      {pieces(text, links)}
      {rest > 0 && <span className="dim"> … {rest.toLocaleString("en")} more characters</span>}
    </bdi>
  )
})
