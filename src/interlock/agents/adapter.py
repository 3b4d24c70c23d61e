"""Adapters: the start of one agent program, and the meaning of its output.

1. An adapter touches nothing: it returns words, variables and files, and reads lines. So all of it can be
   tested with recorded output.
2. What a program says is a claim. `Reader.verdict` says how the session ended by the program's own account;
   whether the work is any good is for the checks.
3. Success is never the exit status alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from interlock.model.kinds import Wire
from interlock.model.outcome import Asking, ErrorClass
from interlock.model.process import Exit
from interlock.model.reason import Reason
from interlock.model.session import Event, Usage
from interlock.model.task import Agent

__all__ = ["Adapter", "Launch", "LaunchContext", "Reader", "SessionVerdict", "Wire"]


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """The surroundings of a program: all that its adapter may use."""

    agent: Agent
    prompt: str
    prompt_file: str
    workspace: str
    home: str
    """Its HOME: empty at first, and kept as long as the attempt is: programs write their transcript there."""
    session: str
    """A fresh id (a UUID) for the session, made before the program starts."""
    resume: str = ""
    """The id of a session that was cut off and is to go on; `home` is then the one it had."""
    model_url: str = ""
    """The model proxy as the program sees it: `http://127.0.0.1:PORT`, without a path."""
    token: str = ""
    """The password of the proxy for this attempt. It is worth nothing outside."""
    tools_url: str = ""
    """The MCP server with Interlock's tools for this attempt, over HTTP; '' if there is none."""
    tools_token: str = ""
    """The password of that server."""
    hooks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Commands for hook events, for programs that run hooks themselves."""
    hooked_tools: str = ""
    """The tools that the one before a tool is about, as a pattern of names; '' for all."""
    most_usd: float | None = None
    """The money that it may spend, if its calls do not pass the proxy (`login`); None: no limit."""
    used_before: Usage = field(default_factory=Usage)
    """What a session that goes on has used until then, as far as counted: some programs tell the sum."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The command, environment and files to start a program with."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files to write before it starts, by their path below `home`."""
    read: tuple[str, ...] = ()
    """Folders outside the system's own that it needs: where it is installed."""
    leaves: tuple[str, ...] = ()
    """Files below `home` that it writes at its end: the reader gets each as one more line."""
    account: tuple[str, ...] = ()
    """Files of the program's account below the user's home, for `login`. They are copied into `home`."""
    hosts: tuple[str, ...] = ()
    """Hosts that the program must reach by itself, for `login`, as `name:port`."""
    say: str = ""
    """Text for its standard input, which stays open if the adapter can `steer`."""


@dataclass(frozen=True, slots=True)
class SessionVerdict:
    """The end of a session, by the program's own account and its exit."""

    error: ErrorClass | None = None
    summary: str = ""
    """The last words of the agent, or of its program about the error."""
    why: Reason | None = None
    """The reason of `error`, if not what the program said."""
    usage: Usage | None = None
    """Usage by the program's own count; the count of the proxy is preferred."""
    session: str = ""
    """The id under which it can be resumed."""
    retry_after_seconds: float = 0.0
    denied: str = ""
    """The tool use that was denied to it to the end, in words."""
    asks: Asking | None = None
    """The question to a person that it ended with."""


class Reader(Protocol):
    """Understands the output of one session, line by line."""

    def read(self, line: str) -> Sequence[Event]:
        """The events that a line of output means; none for noise."""
        ...

    def verdict(self, exited: Exit) -> SessionVerdict:
        """The program has ended: how did it go."""
        ...


@runtime_checkable
class Dialogue(Reader, Protocol):
    """A reader whose program waits for answers on its standard input.

    It sends nothing itself: after every call the executor sends what `replies` holds, and closes the
    program's standard input once the session `is_over`.
    """

    @property
    def is_over(self) -> bool:
        """All is said. A program that does not end by itself now may be ended; that is no failure."""
        ...

    def replies(self) -> Sequence[str]:
        """Lines for its standard input since the last call, each with its end."""
        ...

    def say(self, text: str) -> None:
        """A person's message: told when the turn that runs is over."""
        ...

    def answer(self, call: str, allow: bool) -> Sequence[Event]:
        """A person's answer to what it ASKED, as an event; nothing for a question that is not open."""
        ...


class Adapter(Protocol):
    """One kind of agent program."""

    @property
    def use(self) -> str:
        """Its name in `agents.<name>.use`."""
        ...

    @property
    def wire(self) -> Wire | None:
        """The language it speaks with its model; None: it does not go through the proxy."""
        ...

    @property
    def program(self) -> str:
        """The command that must be installed; '' if it comes with Interlock or the graph names it."""
        ...

    @property
    def can_resume(self) -> bool: ...

    @property
    def can_steer(self) -> bool:
        """Tell if it takes messages while it runs; its reader is a `Dialogue` then."""
        ...

    def launch(self, context: LaunchContext) -> Launch: ...

    def reader(self, context: LaunchContext) -> Reader: ...
