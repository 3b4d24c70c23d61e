"""How a run is shown while it goes on: a picture on a terminal, plain lines elsewhere, or facts as NDJSON."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from interlock.engine.engine import Engine
from interlock.engine.project import Project
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.ui.cli.events import as_object
from interlock.ui.cli.output import Invocation, even_if_unread, note, paint, say, say_line
from interlock.ui.cli.telling import Telling

if TYPE_CHECKING:
    from rich.console import RenderableType


class RunView(Protocol):
    """One way of showing."""

    def see(self, row: Recorded, state: State) -> None:
        """A fact was folded."""
        ...

    def tell(self, text: str) -> None:
        """Something that is no fact but worth knowing."""
        ...

    def on(self, engine: Engine) -> AbstractAsyncContextManager[None]:
        """Show it while the block runs."""
        ...


async def run_view(invocation: Invocation, project: Project) -> RunView:
    """The view that fits whoever looks."""
    if invocation.json:
        return JsonLines()
    if sys.stdout.isatty() and not _is_dumb():
        offset = await project.store.now() - asyncio.get_running_loop().time()
        return Picture(project, offset)
    return PlainLines()


def _is_dumb() -> bool:
    import os

    return os.environ.get("TERM", "dumb") == "dumb"


class PlainLines:
    """A timestamped line for each thing that happens."""

    def __init__(self) -> None:
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
        yield


class JsonLines:
    """The facts themselves."""

    def see(self, row: Recorded, _: State) -> None:
        with even_if_unread():
            say_line(as_object(row))

    def tell(self, text: str) -> None:
        with even_if_unread():
            note(text)

    @asynccontextmanager
    async def on(self, _: Engine) -> AsyncIterator[None]:
        yield


class Picture:
    """What runs now, redrawn; what is settled scrolls by above it."""

    def __init__(self, project: Project, offset: float) -> None:
        from interlock.ui.cli.at_work import Watcher
        from interlock.ui.cli.live import Screen, run_picture

        self._engine: Engine | None = None
        self._telling = Telling()
        loop = asyncio.get_running_loop()
        place = project.place
        watcher = Watcher(project.state_dir, place.work_tree or place.common_dir)

        def draw() -> "RenderableType":
            state = self._engine.state if self._engine else State()
            # The database's clock, carried on by our own: a run may be shown from another machine's database.
            return run_picture(state, offset + loop.time(), watcher, self._telling)

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
