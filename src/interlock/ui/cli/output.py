"""Output: stdout for data, stderr for the rest, colour only if it is wanted."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO

import click

from interlock.model.errors import EnvironmentProblem

STAGE_COLORS = {
    "running": "blue",
    "failed": "red",
    "waiting": "yellow",
    "cancelled": "magenta",
    "done": "green",
}
AGENT_VARIABLES = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX")
"""Set by coding agents in the shells that they open: the reader there is a program."""

_OBEYED = re.compile(
    r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Escape sequences and control characters in a line that we have coloured: a name in it may come from
anywhere."""
_RAW_IN_JSON = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""The characters of `ui.plain.CONTROL` that JSON may hold as they are. They occur in texts only."""


class OutputLost(EnvironmentProblem):
    """Output could not be written: the disk that stdout leads to is full."""

    code = "output-lost"
    hint = "free some space, or write the output to another disk"


_lost: list[OutputLost] = []
"""The first error of output that was dropped. One for the process, as stdout is."""


@dataclass(slots=True)
class Invocation:
    """The values of the options that every command shares."""

    project: Path = field(default_factory=Path.cwd)
    json: bool = False
    no_color: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    """Settings given as options."""

    def wants_json(self) -> bool:
        """True if a command that lists or shows should print JSON: on request, or for a coding agent."""
        is_agent = any(os.environ.get(name) for name in AGENT_VARIABLES)
        return self.json or (is_agent and not sys.stdout.isatty())


def wants_color(stream: TextIO, no_color: bool, environ: Mapping[str, str]) -> bool:
    if no_color or environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and stream.isatty()


def harmless(line: str) -> str:
    """A line with our colours, and nothing else in it that a terminal would obey."""
    return _OBEYED.sub("", line)


def say(text: str = "") -> None:
    """A line of data."""
    with _told_if_lost():
        click.echo(harmless(text), color=_color(sys.stdout))


def say_bytes(file: BinaryIO) -> None:
    """Data to the byte, for a reader that is no terminal."""
    with _told_if_lost():
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()


@contextmanager
def _told_if_lost() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        _send_nowhere(sys.stdout)
        raise OutputLost(f"cannot write the output: {problem.strerror}") from problem


def note(text: str) -> None:
    """A line for people that is not data."""
    try:
        click.echo(harmless(text), err=True, color=_color(sys.stderr))
    except BrokenPipeError:
        raise
    except OSError:  # a full disk: there is no other place to say it
        _send_nowhere(sys.stderr)


def open_closed_streams() -> None:
    """Give each of stdin, stdout and stderr that was closed (`>&-`) to /dev/null.

    Otherwise the next file that is opened, the log for instance, would be taken for it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good


def go_quiet() -> None:
    """Discard later output on each stream that has lost its reader."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _send_nowhere(stream)


def _send_nowhere(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def even_if_unread() -> Iterator[None]:
    """Print beside work: neither a reader who leaves (`| head`) nor a full disk ends the work."""
    try:
        yield
    except BrokenPipeError:
        go_quiet()
    except OutputLost as lost:
        note(f"{lost}; the run continues, see `interlock status`")
        _lost.append(lost)


def lost_output() -> bool:
    """True if output printed with `even_if_unread` could not be written to its file."""
    return bool(_lost)


def say_json(value: object) -> None:
    """One JSON document. Paths are texts; everything else knows itself how to be JSON."""
    import msgspec

    say(_escaped(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode()))


def say_line(value: object) -> None:
    """Print one line of NDJSON and flush it: a program may be following."""
    import msgspec

    say(_escaped(msgspec.json.encode(value, enc_hook=str).decode()))
    sys.stdout.flush()


def say_listing(invocation: Invocation, document: Callable[[], object], lines: Iterable[str]) -> None:
    """Print what a command lists or shows: a document for programs, else lines."""
    if invocation.wants_json():
        say_json(document())
        return
    for line in lines:
        say(line)


def say_result(invocation: Invocation, document: object, *lines: str) -> None:
    """Print what a command did: a document on request, else lines."""
    if invocation.json:
        say_json(document)
        return
    for line in lines:
        say(line)


def _escaped(document: str) -> str:
    """The same JSON with what a terminal would obey, or would not show, written as `\\u009b`."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def paint(text: str, color: str) -> str:
    """Coloured text; the colour is taken out again where it is not wanted."""
    return click.style(text, fg=color)


def stdout_color() -> bool:
    return _color(sys.stdout)


def _color(stream: TextIO) -> bool:
    context = click.get_current_context(silent=True)
    invocation = context.find_object(Invocation) if context else None
    return wants_color(stream, invocation is not None and invocation.no_color, os.environ)
