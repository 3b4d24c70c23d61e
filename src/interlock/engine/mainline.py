"""Where main is: looked at often, written down whenever it has moved."""

import asyncio

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger, Tell
from interlock.events.facts import MainSeen
from interlock.model.claim import Claim
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Tip


class Mainline:
    """The protected branch, as this controller sees it."""

    def __init__(self, env: Env, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._env = env
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._lock = asyncio.Lock()
        """One look at a time, so that an older answer is never written after a newer one."""

    async def see(self) -> Tip:
        """Look, and write it down if it moved."""
        async with self._lock:
            tip = await self._env.repository.tip()
            state = self._ledger.state
            if (tip.commit, tip.branch) != (state.main, state.branch):
                await self._ledger.append(
                    [MainSeen(tip.branch, tip.commit, tip.tree, "found there")], self._claim
                )
            return tip

    async def begin(self, fetch: bool) -> None:
        """Put in order what a crash may have left, bring main up to date, and write down where it is."""
        if text := await self._env.repository.settle():
            self._tell(text)
        if fetch:
            await self.fetch()
        await self.see()

    async def watch(self, every_seconds: float, fetch_seconds: float) -> None:
        """Notice for ever when somebody else moves main, here or upstream."""
        loop = asyncio.get_running_loop()
        fetched = loop.time()
        while True:
            await asyncio.sleep(every_seconds)
            try:
                if fetch_seconds and loop.time() - fetched >= fetch_seconds:
                    fetched = loop.time()
                    await self.fetch()
                await self.see()
            except EnvironmentProblem as problem:
                self._tell(str(problem))  # it comes round again

    async def fetch(self) -> None:
        """Bring main up to its upstream where that is safe, and say what came of it."""
        if text := await self._env.repository.fetch():
            self._tell(text)
