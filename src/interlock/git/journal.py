"""The journal of a move: says across a crash which checkouts must follow the branch, and from where.

1. It is on the disk before the branch moves, and is removed when all files of the checkouts are on the disk.
2. One process at a time moves the branch or reads the journal. The lock belongs to the process and to the git
   processes that it starts for this, so it is free only when all of them have ended.
"""

import asyncio
import contextlib
import fcntl
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from interlock.git.files import write_durably
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem

FILE = "checkout.json"
PATIENCE_SECONDS = 30.0
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.02, 1.0


class StillMoving(EnvironmentProblem):
    """Another process of ours is between a move of the branch and its checkouts."""

    hint = "interlock status"


@dataclass(frozen=True, slots=True)
class Pending:
    """A move of a branch that checkouts have to follow."""

    branch: str
    old: str
    new: str
    trees: tuple[str, ...] = ()
    """The folders of these checkouts. None: written by an older version, and all that are on the branch."""
    edited: Mapping[str, str] = field(default_factory=dict)
    """Files that a person edited before they could follow, each with the object that the index had for it."""


class Journal:
    """The journal of one repository."""

    def __init__(self, place: Place, file: str = FILE) -> None:
        self._place = place
        self._state = place.state
        self._path = self._state / file

    @asynccontextmanager
    async def alone(self, patience_seconds: float = PATIENCE_SECONDS) -> AsyncIterator[int]:
        """Keep other processes away; the descriptor of the lock. `StillMoving` if they do not end."""
        self._state.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._state / "checkout.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await _wait_for(lock, patience_seconds)
            yield lock
        finally:
            os.close(lock)

    @property
    def is_there(self) -> bool:
        """True if a move is still to be finished. Cheap."""
        return self._path.exists()

    def write(self, pending: Pending) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(self._path, json.dumps(asdict(pending)))

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)

    def read(self) -> Pending | None:
        """Read the moves still to be done. A file that makes no sense counts as none: see `put_aside`."""
        try:
            return _checked(self._place, json.loads(self._path.read_text()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def put_aside(self) -> Path:
        """Keep a journal that cannot be read for a person to look at, out of the way."""
        aside = self._path.with_suffix(".damaged")
        with contextlib.suppress(FileNotFoundError):
            self._path.replace(aside)
        return aside


def _checked(place: Place, said: Any) -> Pending:  # Any: the file can hold any JSON
    branch, old, new = said["branch"], said["old"], said["new"]
    trees, edited = tuple(said.get("trees", ())), dict(said.get("edited", {}))
    if not all(isinstance(word, str) for word in (branch, old, new, *trees, *edited, *edited.values())):
        raise TypeError("not a journal")
    if not branch or not place.is_object_id(old) or not place.is_object_id(new):
        raise ValueError("not a journal of this repository")
    return Pending(branch, old, new, trees, edited)


async def _wait_for(lock: int, seconds: float) -> None:
    clock = asyncio.get_running_loop().time
    ends, delay = clock() + seconds, _FIRST_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if clock() >= ends:
                raise StillMoving("another Interlock process is bringing a checkout up to date") from None
        await asyncio.sleep(delay)
        delay = min(_LONGEST_WAIT_SECONDS, delay * 2)
