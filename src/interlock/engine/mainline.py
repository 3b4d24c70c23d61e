"""Watches main, and records each move of it."""

import asyncio
from collections.abc import Awaitable, Callable

from interlock.engine.env import Env
from interlock.engine.landings import found_landings, lost_landings
from interlock.engine.ledger import Ledger, Tell
from interlock.engine.upstream import Upstream
from interlock.events.facts import MainSeen
from interlock.model.claim import Claim
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Tip
from interlock.model.reason import Reason, Why


class Mainline:
    """The protected branch, as this controller sees it."""

    def __init__(self, env: Env, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._env = env
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._upstream = Upstream(env, ledger, claim, tell)
        self._told = ""
        self._lock = asyncio.Lock()
        """One look at a time, so that an older answer is never written after a newer one."""

    async def see(self, why: Reason | None = None) -> Tip:
        """Look, and write it down if it moved."""
        async with self._lock:
            tip = await self._env.repository.tip()
            state = self._ledger.state
            if (tip.commit, tip.branch) != (state.main.commit, state.main.branch):
                lost = await lost_landings(self._env.repository, state, tip.branch)
                await self._ledger.append(
                    [MainSeen(tip.branch, tip.commit, tip.tree, why or Reason(Why.MAIN_FOUND)), *lost],
                    self._claim,
                )
            return tip

    async def begin(self, fetch: bool) -> None:
        """Put in order what a crash may have left, bring main up to date, and write down where it is."""
        if text := await self._env.repository.settle():
            self._tell(text)
        if fetch:
            await self.fetch()
        await self.see()
        if found := await found_landings(self._env.repository, self._ledger.state):
            await self._ledger.append(found, self._claim)

    async def watch(self, every_seconds: float) -> None:
        """Look until cancelled for moves of main by others, in this repository."""
        while True:
            await asyncio.sleep(every_seconds)
            await self._try(self.see)

    async def follow(self, every_seconds: float) -> None:
        """Look until cancelled for moves of the upstream. Apart from `watch`: checks of a merge take long."""
        while True:
            await asyncio.sleep(every_seconds)
            await self._try(self.fetch)

    async def fetch(self) -> None:
        """Bring main and its upstream together where that is safe."""
        if why := await self._upstream.follow():
            await self.see(why)

    async def _try(self, look: Callable[[], Awaitable[object]]) -> None:
        try:
            await look()
            self._told = ""
        except EnvironmentProblem as problem:
            if str(problem) != self._told:  # it comes round again, and the same again is no news
                self._tell(str(problem))
            self._told = str(problem)
