"""Where words go and how they look: stdout for data, stderr for the rest, colour only where it is wanted."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import click

AGENT_VARIABLES = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX")
"""Set by coding agents in the shells they open: whoever reads there is a program."""

CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
"""Escape sequences and control characters: an agent's output must not steer the reader's terminal."""


@dataclass(slots=True)
class Invocation:
    """What the options that every command shares said."""

    project: Path = field(default_factory=Path.cwd)
    json: bool = False
    no_color: bool = False
    color: str = "auto"
    """The setting, once a project's settings are known."""
    settings: dict[str, object] = field(default_factory=dict)
    """What options say about settings."""

    def wants_json(self, stream: TextIO | None = None) -> bool:
        """Shall a command that lists or shows print JSON: asked for, or read by a coding agent."""
        stream = stream or sys.stdout
        return self.json or (not stream.isatty() and any(os.environ.get(name) for name in AGENT_VARIABLES))


def wants_color(stream: TextIO, no_color: bool, environ: Mapping[str, str], setting: str = "auto") -> bool:
    """Is colour wanted on this stream. The flag beats the variables, and these beat the setting."""
    if no_color or environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    if setting != "auto":
        return setting == "always"
    return environ.get("TERM") != "dumb" and stream.isatty()


def say(text: str = "") -> None:
    """A line of data."""
    click.echo(text, color=_color(sys.stdout))


def note(text: str) -> None:
    """A line for people that is not data."""
    click.echo(text, err=True, color=_color(sys.stderr))


def go_quiet() -> None:
    """Let what is printed from now on go nowhere, on each stream that nobody reads any more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def even_if_unread() -> Iterator[None]:
    """For printing beside work that must go on: a reader who leaves (`| head`) does not end it."""
    try:
        yield
    except BrokenPipeError:
        go_quiet()


def say_json(value: object) -> None:
    """One JSON document. Paths are texts; everything else knows itself how to be JSON."""
    import msgspec

    say(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode())


def say_line(value: object) -> None:
    """One line of NDJSON, on its way at once: somebody may be following."""
    import msgspec

    say(msgspec.json.encode(value, enc_hook=str).decode())
    sys.stdout.flush()


def inert(text: str) -> str:
    """Text of unknown origin with nothing in it that a terminal would obey."""
    return CONTROL.sub("", text)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def paint(text: str, color: str) -> str:
    """Coloured text; the colour is taken out again where it is not wanted."""
    return click.style(text, fg=color)


def stdout_color() -> bool:
    """Is colour wanted on stdout."""
    return _color(sys.stdout)


def _color(stream: TextIO) -> bool:
    context = click.get_current_context(silent=True)
    invocation = context.find_object(Invocation) if context else None
    if invocation is None:
        return wants_color(stream, False, os.environ)
    return wants_color(stream, invocation.no_color, os.environ, invocation.color)
