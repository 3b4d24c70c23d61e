"""Experience that projects of one user share: their tallies, one file a project in the user's state folder.

Rules:
1. A file is a projection of its project's log and may be deleted: the next run there writes it again.
2. It holds categories, agents, models and figures; no goals, paths or names of tasks.
3. A file that cannot be read, is damaged or was written by a newer version is reported and ignored.
"""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from interlock.engine.ledger import Tell
from interlock.events.tallies import Goodput, Tallies, Tally, kind
from interlock.git.files import write_durably
from interlock.learn.evidence import merged

VERSION = 1
MOST_FILES = 50
"""The newest: what has not run for longer has little to say about today's agents."""
MOST_BYTES = 1 << 20
MOST_KINDS = 200
"""The kinds of work that are kept: those with the most attempts."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The tallies of all other projects, added up."""

    projects: int = 0
    tallies: Tallies = field(default_factory=Tallies)


class Experience(Protocol):
    """Shares the tallies of a project, and reads those of the others."""

    async def gather(self) -> Gathered: ...

    async def share(self, tallies: Tallies) -> None: ...


class NoExperience:
    """A project that keeps to itself."""

    async def gather(self) -> Gathered:
        """Return nothing."""
        return Gathered()

    async def share(self, tallies: Tallies) -> None:
        """Share nothing."""


class _Head(msgspec.Struct):
    version: int


class _File(_Head):
    kinds: list[Tally]
    goodput: dict[str, dict[int, Goodput]]


@dataclass(frozen=True, slots=True)
class SharedExperience:
    """A folder with a file for every project."""

    folder: Path
    project: str
    """Lineage of the project: the name of its file."""
    tell: Tell

    async def gather(self) -> Gathered:
        """Read the tallies of the other projects."""
        return await asyncio.to_thread(self._gather)

    async def share(self, tallies: Tallies) -> None:
        """Write the tallies of this project; a reader sees the old file or the new one."""
        if tallies.kinds:
            await asyncio.to_thread(self._share, tallies)

    def _gather(self) -> Gathered:
        found = [read for path in self._others() if (read := self._read(path))]
        return Gathered(len(found), merged(found)) if found else Gathered()

    def _others(self) -> list[Path]:
        try:
            paths = [(path.stat().st_mtime, path) for path in self.folder.glob("*.json")]
        except OSError as problem:
            self.tell(f"cannot read the experience of other projects: {problem}")
            return []
        newest = sorted(paths, key=lambda pair: (-pair[0], pair[1]))
        return [path for _, path in newest if path.stem != self.project][:MOST_FILES]

    def _read(self, path: Path) -> Tallies | None:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES} bytes")
            text = path.read_bytes()
            if msgspec.json.decode(text, type=_Head).version != VERSION:
                raise ValueError("another version of Interlock wrote it")
            file = msgspec.json.decode(text, type=_File, strict=False)
        except (OSError, ValueError) as problem:
            self.tell(f"ignoring {path}: {problem}")
            return None
        kinds = {kind(each.category, each.agent, each.model): each for each in file.kinds}
        return Tallies(kinds, file.goodput)

    def _share(self, tallies: Tallies) -> None:
        most = sorted(tallies.kinds.values(), key=lambda tally: -tally.attempts)[:MOST_KINDS]
        text = msgspec.json.encode(_File(VERSION, most, tallies.goodput))
        path = self.folder / f"{self.project}.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_durably(path, text.decode())
        except OSError as problem:
            self.tell(f"cannot share the experience of this project: {problem}")
