"""Looks at running work again and again, and records overlaps as `train/radar.py` decides."""

import asyncio

from interlock.engine.ledger import Ledger, Tell
from interlock.git.protocol import Radar
from interlock.model.backoff import grown
from interlock.model.claim import Claim
from interlock.model.radar import Sighting
from interlock.model.task import TaskId
from interlock.train.radar import Told, after, queued, reports, running

EVERY_SECONDS = 1.0
MOST_SECONDS = 60.0
"""The longest pause after looks that failed."""


class RadarWatch:
    """The radar of one controller."""

    def __init__(self, radar: Radar, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._radar = radar
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._told: dict[str, Told] = {}
        self._unseen: dict[TaskId, str] = {}
        self._failures = 0

    async def watch(self) -> None:
        """Look until cancelled."""
        try:
            while True:
                await asyncio.sleep(grown(EVERY_SECONDS, MOST_SECONDS, self._failures))
                await self.look()
        finally:
            await self._radar.close()

    async def look(self) -> None:
        """Look once, and write down what is new."""
        state = self._ledger.state
        at_work = running(state)
        if not at_work and not state.radar.live:
            return
        sighting = await self._sighting()
        if sighting is None:
            return
        self._mention(sighting)
        now = asyncio.get_running_loop().time()
        # State has gone on meanwhile: a report about attempts that are over is passed over by the fold.
        if news := reports(self._ledger.state, sighting, self._told, now):
            await self._ledger.append(list(news.values()), self._claim)
        self._told = after(self._told, news, self._ledger.state, now)

    async def _sighting(self) -> Sighting | None:
        state = self._ledger.state
        try:
            found = await self._radar.look(running(state), queued(state), state.main.commit)
        except Exception as problem:  # noqa: BLE001 - no file of an agent may end the run
            self._failures += 1
            if self._failures == 1:
                self._tell(f"the radar cannot look at running work: {problem}; it tries again")
            return None
        self._failures = 0
        return found

    def _mention(self, sighting: Sighting) -> None:
        """Say once of each workspace that it is not compared."""
        for task, why in sighting.unseen.items():
            if self._unseen.get(task) != why:
                self._tell(f"radar: the workspace of {task} is not compared with others: {why}")
        self._unseen = dict(sighting.unseen)
