"""Views of a running run: a live table on a terminal, plain lines elsewhere, or facts as NDJSON."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from interlock.engine.engine import Engine
from interlock.engine.project import Project
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.pace import check_words
from interlock.model.task import TaskId
from interlock.ui.cli.output import Invocation, even_if_unread, note, paint, say, say_line
from interlock.ui.queries.facts import fact_document
from interlock.ui.words.run_lines import Telling

if TYPE_CHECKING:
    from rich.console import RenderableType

LOOK_SECONDS = 1.0
"""The interval between two looks for a late check."""


async def run_view(invocation: Invocation, project: Project) -> "RunView":
    if invocation.json:
        return JsonLines()
    if sys.stdout.isatty() and not _is_dumb():
        offset = await project.store.now() - asyncio.get_running_loop().time()
        return Picture(project, offset)
    return PlainLines(project)


def _is_dumb() -> bool:
    import os

    return os.environ.get("TERM", "dumb") == "dumb"


def running_checks(project: Project, now: float) -> Iterator[tuple[TaskId, str, float | None]]:
    """The checks of tasks that run now: the task, the check in words, and of a late one when it began."""
    for check in (check for check in project.checker.running() if check.task):
        seconds = now - check.since
        is_late = check.pace is not None and check.pace.is_overdue(seconds)
        words = check_words(check.command, seconds, check.pace)
        yield check.task, words, check.since if is_late else None


class PlainLines:
    """A timestamped line for each thing that happens."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._telling = Telling()

    def see(self, row: Recorded, state: State) -> None:
        for color, text in self._telling.hear(row, state):
            with even_if_unread():
                say(paint(text, color) if color else text)

    def tell(self, text: str) -> None:
        with even_if_unread():
            note(text)

    @asynccontextmanager
    async def on(self, _: Engine) -> AsyncIterator[None]:
        looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            looking.cancel()

    async def _look(self) -> None:
        """Name each check that is late, once."""
        told: set[tuple[str, float]] = set()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for task, words, late_since in running_checks(self._project, asyncio.get_running_loop().time()):
                if late_since is not None and (task, late_since) not in told:
                    told.add((task, late_since))
                    self.tell(f"{task}: {words}")


class JsonLines:
    """The facts themselves."""

    def see(self, row: Recorded, _: State) -> None:
        with even_if_unread():
            say_line(fact_document(row))

    def tell(self, text: str) -> None:
        with even_if_unread():
            note(text)

    @asynccontextmanager
    async def on(self, _: Engine) -> AsyncIterator[None]:
        yield


class Picture:
    """A live table of running tasks; finished events scroll by above it."""

    def __init__(self, project: Project, offset: float) -> None:
        from interlock.ui.at_work import Watcher
        from interlock.ui.cli.live import Screen, run_picture

        self._engine: Engine | None = None
        self._telling = Telling()
        loop = asyncio.get_running_loop()
        place = project.place
        watcher = Watcher(project.state_dir, place.work_tree or place.common_dir)

        def draw() -> "RenderableType":
            state = self._engine.state if self._engine else State()
            # The database's clock, carried on by our own: a run may be shown from another machine's database.
            checks = {task: words for task, words, _ in running_checks(project, loop.time())}
            return run_picture(state, offset + loop.time(), watcher, self._telling, checks)

        self._screen = Screen(draw)

    def see(self, row: Recorded, state: State) -> None:
        for color, text in self._telling.hear(row, state):
            if color:
                self._screen.print(text, color)

    def tell(self, text: str) -> None:
        self._screen.print(text, "bold")

    @asynccontextmanager
    async def on(self, engine: Engine) -> AsyncIterator[None]:
        self._engine = engine
        async with self._screen.on():
            yield


RunView = JsonLines | PlainLines | Picture
"""Each sees every fact after the fold, is told what else is worth knowing, and shows it while `on` runs."""
