"""What a session said, in lines for people; and the end of its file, however long it is."""

from contextlib import suppress
from pathlib import Path

import msgspec

from interlock.model.session import Event, EventKind
from interlock.model.usage import Usage
from interlock.ui.cli.output import inert

TAIL_BYTES = 1 << 18
WIDTH = 160


class _Call(msgspec.Struct):
    """What matters here of a recorded call."""

    usage: Usage


_CALLS = msgspec.json.Decoder(_Call, strict=False)
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
    return f"[{event.kind.value}] {_short(_about(event))}".rstrip()


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
            return event.text if event.ok else f"not well: {event.text}"


def tokens(usage: Usage | None) -> str:
    """Tokens and money in a few words; '' if nothing is known."""
    if usage is None or not (usage.input_tokens or usage.output_tokens or usage.cost_usd):
        return ""
    cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.2f}"
    return f"{usage.input_tokens:,} in, {usage.output_tokens:,} out{cost}"


def counted_calls(path: Path) -> Usage | None:
    """The sum over the calls that the model proxy has passed on so far; None if it knows of none."""
    found = None
    try:
        with path.open("rb") as file:
            for line in file:
                with suppress(msgspec.DecodeError, msgspec.ValidationError):
                    found = (found or Usage()) + _CALLS.decode(line).usage
    except OSError:
        return None
    return found


def last_events(path: Path) -> list[Event]:
    """The events at the end of a file, oldest first; none if there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return []
    return [event for line in lines if (event := decode(line))]


def _short(text: str) -> str:
    text = " ".join(inert(text).split())
    return f"{text[: WIDTH - 1]}…" if len(text) > WIDTH else text
