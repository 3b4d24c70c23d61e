"""Opening a project for one command: the repository around us, its settings, its log."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interlock.engine.settings import Loaded, Settings, load, project_name, store_address
from interlock.events.facts import StateMoved
from interlock.model.durations import seconds_of
from interlock.model.errors import EnvironmentProblem, UsageError, UserError
from interlock.store import Store, open_store
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import AGENT_VARIABLES, Invocation, note, paint

if TYPE_CHECKING:
    from interlock.engine.project import Project
    from interlock.git.place import Place
    from interlock.ui.reading import Reading

Result = TypeVar("Result")
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


def run_async(work: Coroutine[Any, Any, Result]) -> Result:  # Any: what a coroutine is sent and yields
    _wait_for_children_without_threads()
    return asyncio.run(work)


def _wait_for_children_without_threads() -> None:
    """Python 3.11 starts a thread for every child process; later ones ask the kernel, as 3.11 can too."""
    if sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        with suppress(OSError):  # a kernel before 5.3
            os.close(os.pidfd_open(os.getpid()))
            asyncio.get_event_loop_policy().set_child_watcher(asyncio.PidfdChildWatcher())


@asynccontextmanager
async def opened(
    invocation: Invocation, create: bool = False, is_owner: bool = True
) -> AsyncIterator[ProjectLog]:
    """The project around us. Without `create`, a repository without a log looks empty and stays untouched.

    Without `is_owner` the log is not touched yet: the caller asks whose it is, and reports its problems.
    """
    place = await locate(invocation.project)
    await _finish_move(invocation.project, place)
    root = place.work_tree or place.common_dir
    loaded = load(root, invocation.settings)
    loaded.refuse_log()
    settings = loaded.settings
    former = place.ensure_state() if place.former_state else None
    address, lineage = _log_of(settings, place, create)
    store = open_store(address, project_name(settings, lineage))
    try:
        if is_owner:
            await identify(store, lineage)
        if former:
            await store.append([StateMoved(str(former), str(place.state))], actor())
        yield ProjectLog(root, place.state, settings, store, place.work_tree is None, loaded)
    finally:
        await store.close()


async def identify(store: Store, lineage: str) -> None:
    """Make sure that the log is this repository's. A person hears if its tables were migrated by that."""
    await store.identify(lineage)
    if store.notice:
        note(store.notice)


async def _finish_move(path: Path, place: "Place") -> None:
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
        note(text)


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


@asynccontextmanager
async def opened_fully(invocation: Invocation, is_owner: bool = True) -> AsyncIterator["Project"]:
    """The project with its repository, for commands that look but leave nothing behind."""
    from interlock.engine.project import Project
    from interlock.git.discover import discover

    async with opened(invocation, is_owner=is_owner) as project:
        place = await discover(invocation.project, project.settings.branch)
        loaded = project.loaded
        yield Project(
            place, loaded.settings, project.store, loaded.origins, trust=loaded.trust, asked=loaded.asked
        )


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


def state_folder(invocation: Invocation) -> Path:
    place = run_async(locate(invocation.project))
    place.ensure_state()
    return place.state


def repository_root(invocation: Invocation) -> Path:
    place = run_async(locate(invocation.project))
    if place.work_tree is None:
        raise EnvironmentProblem(
            f"{place.common_dir} is a bare repository without files",
            "git clone it, and work in the clone",
        )
    return place.work_tree


def seconds_option(option: str, text: str, example: str) -> float:
    try:
        return seconds_of(text)
    except ValueError:
        raise UsageError(f"{option} is not a duration: {text}", f"write it like {example}") from None


def actor() -> str:
    return f"{os.environ.get('USER') or os.environ.get('LOGNAME') or os.getuid()}@{socket.gethostname()}"


def person() -> str:
    """The actor of a decision that only a person may make. An agent that finds this program is refused."""
    found = next((name for name in ("INTERLOCK_TASK_ID", *AGENT_VARIABLES) if os.environ.get(name)), "")
    if found:
        raise AgentsMayNot(f"only a person may decide this, and {found} says that an agent asks")
    return actor()


class AgentsMayNot(UserError):
    """An agent asks for what only a person may decide."""

    code = "agents-may-not"
    exit_code = ExitCode.DECLINED
    hint = "run the command in a shell of your own"


def read_project(invocation: Invocation) -> "Reading":
    async def reading() -> "Reading":
        async with opened(invocation) as project:
            return await read(project.store)

    return run_async(reading())


async def read(store: Store) -> "Reading":
    """Everything, as it is now. A person hears if this version cannot read all of it."""
    from interlock.engine.loading import load_state, unknown_text
    from interlock.ui.reading import look

    state = await load_state(store)
    if text := unknown_text(state):
        note(f"{paint('warning:', 'yellow')} {text}; those facts are ignored here, and `run` is refused")
    return await look(store, state)
