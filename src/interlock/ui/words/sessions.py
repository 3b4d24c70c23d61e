"""Session events in words."""

import msgspec

from interlock.model.session import Event, EventKind
from interlock.model.usage import Usage
from interlock.ui.plain import inert, shortened

WIDTH = 160


_DECODER = msgspec.json.Decoder(Event, strict=False)


def decode(line: str | bytes) -> Event | None:
    """One line of an events file; None if it was cut off."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def event_line(event: Event) -> str:
    """An event in one line, or in as many as the agent's own words have."""
    if event.kind is EventKind.MESSAGE:
        return inert(event.text)
    return f"[{event.kind.value}] {shortened(inert(_about(event)), WIDTH)}".rstrip()


def _about(event: Event) -> str:
    match event.kind:
        case EventKind.SESSION:
            return " ".join(filter(None, (event.session, event.model)))
        case EventKind.TOOL | EventKind.DENIED | EventKind.ASKED:
            return f"{event.tool} {event.text}"
        case EventKind.RESULT:
            return event.text if event.ok else f"failed: {event.text}"
        case EventKind.EDIT:
            return event.path
        case EventKind.COMMAND:
            code = "" if event.exit_code is None else f" (exit {event.exit_code})"
            return f"{event.text}{code}"
        case EventKind.USAGE:
            return tokens(event.usage)
        case EventKind.RETRY | EventKind.ERROR:
            return ": ".join(filter(None, (event.error.value if event.error else "", event.text)))
        case _:
            return event.text if event.ok else f"failed: {event.text}"


def tokens(usage: Usage | None) -> str:
    if usage is None or not (usage.input_tokens or usage.output_tokens or usage.cost_usd):
        return ""
    cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.2f}"
    return f"{usage.input_tokens:,} in, {usage.output_tokens:,} out{cost}"
