"""The reduced sandbox, where bubblewrap does not work: the kernel's Landlock and the filter of system calls.

What it lacks beside the full one: nothing can be protected inside a folder that may be written, so an agent
can damage its own git dir; programs can use no unix socket; /dev/shm, terminals and System V's shared memory
would be those of the host, where other attempts and the user's programs are, so they are refused; and where
no network namespace can be had either, programs cannot listen, and reach nothing but their forwarded ports.
Everything else that was not granted is as far away as in the full one.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.model.errors import CannotStart
from interlock.model.process import Command
from interlock.model.sandbox import Grant, Sandbox
from interlock.sandbox import seccomp
from interlock.sandbox.confinement import SYSTEM_PATH, Confined, in_memory, network_words
from interlock.sandbox.environment import inside
from interlock.sandbox.system import ETC, NAMES, PYTHON, ROOTS
from interlock.sandbox.toolchains import NO_TOOLCHAINS, Toolchains
from interlock.sandbox.unprivileged import demotion

LAUNCHER = (PYTHON, "-I", "-S", "-E", str(Path(__file__).with_name("outside") / "landlocked.py"))

MISSING = (
    "an agent could damage its own git dir (its work is still imported safely); "
    "there is no /dev/shm and no terminal"
)
MISSING_NETWORK = "programs cannot listen on a port"

NO_SYSTEM = {"GIT_CONFIG_NOSYSTEM": "1"}
"""The system's settings for git are there and cannot be read, which git takes for the end of the world."""

_DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True, slots=True)
class Landlock:
    """Programs that the kernel refuses what they were not granted."""

    toolchains: Toolchains = NO_TOOLCHAINS
    alone: bool = False
    kind = Sandbox.LANDLOCK

    @property
    def missing(self) -> str:
        return MISSING if self.alone else f"{MISSING}; {MISSING_NETWORK}"

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        if not Path(command.directory).is_dir():
            raise CannotStart(f"working directory not found: {command.directory}")
        own = tempfile.mkdtemp(prefix="interlock-")
        home = grant.home or own
        env = {**NO_SYSTEM, **inside(command.env, grant, self.toolchains, home, own), **mark}
        demoted, files = demotion(replace(grant, write=(*grant.write, own)), self.toolchains)
        words = [
            *(word.replace("=", "\0", 1) for word in demoted),
            *self._rules(grant, (home, own)),
            *(f"env\0{name}={value}" for name, value in env.items()),
        ]
        details = in_memory("details", b"".join(os.fsencode(word) + b"\0" for word in words))
        # Landlock does not know of unix sockets that are files: the engine of the containers may be one.
        filters = in_memory("seccomp", seccomp.program(alone=self.alone, by_name=False))
        return Confined(
            (*LAUNCHER, str(details), str(filters), "--", *command.argv),
            {"PATH": SYSTEM_PATH, **mark},
            command.directory,
            network_words(grant, alone=self.alone),
            (details, filters, *files),
            alone=self.alone,
            leftovers=(own,),
        )

    def _rules(self, grant: Grant, own: tuple[str, ...]) -> Iterator[str]:
        yield f"network\0{'own' if self.alone else 'shared'}"
        for path in (*grant.write, *own, *(f"/dev/{name}" for name in _DEVICES)):
            yield f"write\0{path}"
        system = ("/usr", "/proc", *(f"/{name}" for name in ROOTS), *(f"/etc/{name}" for name in ETC + NAMES))
        for path in (*system, *self._readable(), *grant.read):
            yield f"read\0{path}"
        for forwarded in () if self.alone else grant.forwarded_ports:
            yield f"connect\0{forwarded.port}"

    def _readable(self) -> Iterator[str]:
        """The toolchains. Rules only add, so one with a credential in it is let in piece by piece."""
        masked = {Path(path) for path in self.toolchains.masked}
        for folder in map(Path, self.toolchains.folders):
            hidden = {path for path in masked if path.is_relative_to(folder)}
            yield from _around(folder, hidden) if hidden else (str(folder),)


def _around(folder: Path, hidden: set[Path]) -> Iterator[str]:
    """Everything in a folder but what is hidden, at whatever depth."""
    for entry in folder.iterdir():
        if entry in hidden:
            continue
        if any(path.is_relative_to(entry) for path in hidden):
            yield from _around(entry, hidden)
        else:
            yield str(entry)
