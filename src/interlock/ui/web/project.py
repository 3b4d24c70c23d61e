"""One project that the server shows: its log, its State, and what acts on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.engine.loading import catch_up, load_state
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.run.attempt_token import FOLDER
from interlock.ui.at_work import Watcher
from interlock.ui.opening import ProjectLog
from interlock.ui.reading import Reading, look
from interlock.ui.web.keys import load_keys
from interlock.ui.web.once import Once
from interlock.ui.web.past import Past

if TYPE_CHECKING:
    from interlock.engine.project import Project
    from interlock.git.repository import GitRepository


class Served:
    """A project's State, kept up to date by applying new facts."""

    def __init__(self, name: str, log: ProjectLog, state: State) -> None:
        self.name = name
        self.log = log
        self.state = state
        self.watcher = Watcher(log.state_dir, log.root)
        self.keys = load_keys(log.state_dir)
        """The tokens of this project's agents; those of people are the server's."""
        self.past = Past(log.store, state)
        self.once = Once(log.state_dir / FOLDER)
        self._repository: GitRepository | None = None
        self._lock = asyncio.Lock()
        self._clock = asyncio.get_running_loop().time
        self._looked_at = 0.0
        self._now = 0.0

    @classmethod
    async def load(cls, name: str, log: ProjectLog) -> "Served":
        return cls(name, log, await load_state(log.store))

    @property
    def root(self) -> Path:
        return self.log.root

    def now(self) -> float:
        """The log's clock, as far as it is known without asking the database."""
        return self._now + self._clock() - self._looked_at

    async def look(self) -> Reading:
        """The State with all facts that there are, and the claims."""
        await self.catch_up()
        reading = await look(self.log.store, self.state)
        self._now, self._looked_at = reading.now, self._clock()
        return reading

    async def catch_up(self) -> list[Recorded]:
        """Apply new facts. One at a time: two would apply the same fact twice."""
        async with self._lock:
            return await catch_up(self.log.store, self.state)

    async def wait(self, seconds: float) -> bool:
        """Wait until there is a new fact, at most so long."""
        return await self.log.store.wait(self.state.seq, seconds)

    @asynccontextmanager
    async def acting(self) -> AsyncIterator[Reading]:
        """The State for an action, which may bring it up to date: nothing else does meanwhile."""
        async with self._lock:
            await catch_up(self.log.store, self.state)
            reading = await look(self.log.store, self.state)
            yield reading
            await catch_up(self.log.store, self.state)

    async def repository(self) -> "GitRepository":
        """The repository, to show what is in it."""
        if self._repository is None:
            from interlock.git.discover import discover
            from interlock.git.repository import GitRepository

            self._repository = GitRepository(await discover(self.root, self.log.settings.branch))
        return self._repository

    @asynccontextmanager
    async def for_reading(self) -> AsyncIterator["Project"]:
        """The project with its repository, for what looks and leaves nothing behind."""
        from interlock.engine.project import Project

        loaded = self.log.loaded
        place = (await self.repository()).place
        yield Project(
            place, loaded.settings, self.log.store, loaded.origins, trust=loaded.trust, asked=loaded.asked
        )

    @asynccontextmanager
    async def for_work(self) -> AsyncIterator["Project"]:
        """The project with its repository and graph, for what needs them."""
        from interlock.engine.project import open_project

        async with open_project(self.log.root) as project:
            yield project
