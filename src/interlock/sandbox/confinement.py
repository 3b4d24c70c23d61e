"""The Protocol of all sandboxes: turn a command into one that cannot reach more than its grant."""

import contextlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from interlock.model.process import Command
from interlock.model.sandbox import Grant, Overlay, Sandbox
from interlock.sandbox.folders import remove_folder
from interlock.sandbox.toolchains import NO_TOOLCHAINS, Toolchains

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of our own helpers: a task graph's PATH decides nothing outside the sandbox."""

REMOVE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Confined:
    """A command as the supervisor starts it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """The supervisor's environment. The program's own is passed where no other process can read it."""
    directory: str
    words: tuple[str, ...] = ()
    """Words for the supervisor."""
    descriptors: tuple[int, ...] = ()
    """Open files that the supervisor hands on; its starter closes them."""
    alone: bool = False
    """True if it gets a network of its own."""
    leftovers: tuple[str, ...] = ()
    """Folders made for it, to be removed when it has ended."""
    container: tuple[str, str] | None = None
    """The engine and the name of the container that it is in."""


class Confinement(Protocol):
    """One way of keeping programs to their grant, found to work on this machine."""

    @property
    def kind(self) -> Sandbox: ...

    @property
    def alone(self) -> bool:
        """Tell if each program gets a network of its own, so that any `ForwardedPort.port` is free."""
        ...

    @property
    def toolchains(self) -> Toolchains:
        """Return the toolchains that programs find there besides the system's own."""
        ...

    @property
    def missing(self) -> str:
        """Return the features of the full sandbox that this one lacks; empty for the full one."""
        ...

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        """The command with its sandbox around it. `mark` is for the environment of all its processes."""
        ...


def network_words(grant: Grant, *, alone: bool) -> tuple[str, ...]:
    forwarded_ports = tuple(
        f"forward={forwarded.port}={forwarded.socket}" for forwarded in grant.forwarded_ports
    )
    return ("loopback", *forwarded_ports) if alone else forwarded_ports


def overlay_word(overlay: Overlay) -> str:
    return "overlay=" + "\n".join((overlay.merged, overlay.upper, overlay.work, *overlay.lower))


def in_memory(name: str, content: bytes) -> int:
    """An open file that is on no disk, at its beginning. The supervisor inherits it."""
    file = os.memfd_create(name)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def close_all(confined: Confined) -> None:
    """Close our copies of the descriptors: it was started, or never will be."""
    for descriptor in confined.descriptors:
        os.close(descriptor)


def clear_up(confined: Confined) -> None:
    """Remove what was made for a program that has ended."""
    for folder in confined.leftovers:
        remove_folder(folder)
    if confined.container:
        remove_container(*confined.container)


def remove_container(program: str, name: str) -> None:
    """End a container, whatever it does. Nothing happens if it is gone."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            (program, "rm", "--force", name), capture_output=True, timeout=REMOVE_SECONDS, check=False
        )


class Unconfined:
    """No sandbox, because a person said so: programs can do whatever the user can.

    They find their forwarded ports on the host's own loopback.
    """

    kind = Sandbox.NONE
    alone = False
    toolchains = NO_TOOLCHAINS
    missing = "everything: programs can do whatever you can"

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        home = {"HOME": grant.home} if grant.home else {}
        return Confined(
            command.argv,
            {**command.env, **home, **mark},
            command.directory,
            network_words(grant, alone=False),
        )
