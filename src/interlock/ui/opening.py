"""Opens a project for readers and people's acts: the repository around a folder, its settings, its log."""

import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.engine.settings import Loaded, Settings, load, project_name, store_address
from interlock.events.facts import StateMoved
from interlock.model.errors import EnvironmentProblem
from interlock.store import Store, open_store

if TYPE_CHECKING:
    from interlock.git.place import Place

Tell = Callable[[str], None]
"""Prints a line for a person."""
UNFINISHED_MOVES = ("checkout.json", "taken_back")
"""Names as in `git.journal` and `git.taken_back`, repeated so that a reader need not load those."""


@dataclass(frozen=True, slots=True)
class ProjectLog:
    """A project as readers and people's acts need it: its log, and where it is."""

    root: Path
    state_dir: Path
    settings: Settings
    store: Store
    is_bare: bool
    """True without a checkout: `init` then has nothing to look at."""
    loaded: Loaded


@asynccontextmanager
async def open_log(
    path: Path,
    settings: Mapping[str, object],
    tell: Tell,
    create: bool = False,
    is_owner: bool = True,
) -> AsyncIterator[ProjectLog]:
    """The project around a folder. Without `create`, a repository without a log looks empty and stays
    untouched.

    Without `is_owner` the log is not touched yet: the caller asks whose it is, and reports its problems.
    """
    place = await locate(path)
    await _finish_move(path, place, tell)
    root = place.work_tree or place.common_dir
    loaded = load(root, settings)
    loaded.refuse_log()
    former = place.ensure_state() if place.former_state else None
    address, lineage = _log_of(loaded.settings, place, create)
    store = open_store(address, project_name(loaded.settings, lineage))
    try:
        if is_owner:
            await identify(store, lineage, tell)
        if former:
            await store.append([StateMoved(str(former), str(place.state))], actor())
        yield ProjectLog(root, place.state, loaded.settings, store, place.work_tree is None, loaded)
    finally:
        await store.close()


async def identify(store: Store, lineage: str, tell: Tell) -> None:
    """Make sure that the log is this repository's. A person hears if its tables were migrated by that."""
    await store.identify(lineage)
    if store.notice:
        tell(store.notice)


async def _finish_move(path: Path, place: "Place", tell: Tell) -> None:
    """A checkout that a crash left behind is brought along before a command judges it or its settings.

    A run that is in the middle of a landing is not waited for.
    """
    if not any((place.state / name).exists() for name in UNFINISHED_MOVES):
        return
    from interlock.git.branch import finish_move
    from interlock.git.discover import discover

    try:
        text = await finish_move(await discover(path), patience_seconds=0.0)
    except EnvironmentProblem as problem:
        text = str(problem)
    if text:
        tell(text)


def _log_of(settings: Settings, place: "Place", create: bool) -> tuple[str, str]:
    """The address of the log and the lineage it belongs to. A repository without a run has no log yet."""
    from interlock.git.lineage import ensure_lineage, read_lineage

    address, lineage = store_address(settings, place.state), read_lineage(place.state)
    if lineage if settings.store else Path(address).exists():
        return address, lineage
    if not create:
        return ":memory:", lineage
    place.ensure_state()
    return address, ensure_lineage(place.state)


async def locate(path: Path) -> "Place":
    """Find the repository with one git call: readers need no more, and must answer fast."""
    from interlock.git.command import find_repository
    from interlock.git.discover import discover
    from interlock.git.place import Place

    if not path.is_dir():
        return await discover(path)
    words = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel")
    answer = await find_repository(path, *words)
    folders = answer.out.decode("utf-8", "surrogateescape").splitlines()
    if answer.code or len(folders) != 2:
        return await discover(path)  # looks closely, and says what is wrong
    return Place(Path(folders[0]), Path(folders[1]), branch="", head="", version=(0, 0), settings={})


def actor() -> str:
    return f"{os.environ.get('USER') or os.environ.get('LOGNAME') or os.getuid()}@{socket.gethostname()}"
