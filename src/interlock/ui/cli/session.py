"""Opening a project for one command: the repository around us, its settings, its log."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interlock.model.durations import seconds_of
from interlock.model.errors import EnvironmentProblem, UsageError, UserError
from interlock.store import Store
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import AGENT_VARIABLES, Invocation, note, paint
from interlock.ui.opening import ProjectLog, actor, locate, open_log

if TYPE_CHECKING:
    from interlock.engine.project import Project
    from interlock.ui.reading import Reading

__all__ = ["ProjectLog", "actor", "locate"]  # and all that is defined here

Result = TypeVar("Result")


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
    """The project of this command, as `open_log` opens it."""
    async with open_log(invocation.project, invocation.settings, note, create, is_owner) as project:
        yield project


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
