"""A room to put programs into: a folder of their own, and neighbours that are none of their business."""

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from interlock.model.process import Command, Exit
from interlock.model.sandbox import NO_LIMITS, ForwardedPort, Grant, Limits, Sandbox
from interlock.process.containment import Containment, strongest
from interlock.process.probe import probe
from interlock.process.processes import LocalProcesses
from interlock.process.supervised import Bounds
from interlock.sandbox.bubblewrap import find_bubblewrap
from interlock.sandbox.confinement import Confinement
from interlock.sandbox.landlock import Landlock
from interlock.sandbox.toolchains import find_toolchains

FULL = ("bubblewrap", "bubblewrap by itself")
REDUCED = ("landlock", "landlock on the host's network")


@dataclass(frozen=True)
class Room:
    """One sandbox, a workspace in it, and something private beside it."""

    path: Path
    processes: LocalProcesses
    confinement: Confinement
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def mine(self) -> Path:
        return self.path / "mine"

    @property
    def secret(self) -> Path:
        return self.path / "secret"

    @property
    def alone(self) -> bool:
        return self.confinement.alone

    def command(self, *argv: str, env: Mapping[str, str] | None = None, **changes: object) -> Command:
        """A program with this room as its grant; `changes` are fields of Command or Grant."""
        grant = Grant(write=(str(self.mine),), protect=(str(self.mine / "kept"),))
        of_grant = {name: changes.pop(name) for name in list(changes) if name in Grant.__slots__}
        command = Command(
            argv,
            str(self.mine),
            str(self.path / "log"),
            {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "MARKED": self.mark, **(env or {})},
            key="program",
            grant=replace(grant, **of_grant),  # type: ignore[arg-type]  # fields by name, as the test says
        )
        return replace(command, **changes)  # type: ignore[arg-type]  # the same

    def run(self, command: Command, on_line: Callable[[str], None] | None = None) -> Exit:
        return asyncio.run(self.processes.run(command, on_line))

    def sh(self, script: str, env: Mapping[str, str] | None = None, **changes: object) -> Exit:
        """A shell script in the room."""
        return self.run(self.command("sh", "-c", script, env=env, **changes))

    def python(self, script: str, **changes: object) -> Exit:
        """A Python script in the room."""
        return self.run(self.command("python3", "-c", script, env=None, **changes))


def confinements() -> dict[str, tuple[Confinement, Containment]]:
    """All there are, whether they work or not."""
    found = find_bubblewrap(toolchains := find_toolchains(["auto"], os.environ))
    here = strongest()
    kinds: dict[str, tuple[Confinement, Containment]] = {
        "landlock": (Landlock(toolchains, alone=True), here),
        "landlock on the host's network": (Landlock(toolchains), Containment.SUBREAPER),
    }
    if found:
        kinds["bubblewrap"] = (found, here)
        kinds["bubblewrap by itself"] = (replace(found, by_itself=True), Containment.SUBREAPER)
    return kinds


def furnished(path: Path, name: str, limits: Limits = NO_LIMITS, **timing: float) -> Room:
    """A room of one kind, or the test is skipped where that kind does not work."""
    if name not in confinements():
        pytest.skip("bubblewrap is not installed")
    confinement, containment = confinements()[name]
    strict = confinement.kind is not Sandbox.LANDLOCK
    if confinement.alone and name != "bubblewrap by itself" and not containment.is_namespace:
        pytest.skip("there are no namespaces here")
    if not (probed := probe(confinement, containment, strict=strict)).works:
        pytest.skip(f"{name} does not work here: {probed.message}")
    (path / "mine").mkdir()
    (path / "mine" / "kept").write_text("kept\n")
    (path / "secret").write_text("a private matter\n")
    bounds = Bounds(confinement, limits, **timing)
    return Room(path, LocalProcesses(containment, 2.0, bounds=bounds), confinement)


def forwarded(room: Room, port: int = 8377) -> ForwardedPort:
    """A way out to a socket in the room's folder."""
    return ForwardedPort(port, str(room.path / "socket"))
