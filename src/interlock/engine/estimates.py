"""Puts a forecast of each task into the log: when a run begins, for tasks that are accepted later, and
when much more is known than the last time."""

import asyncio
from collections.abc import Collection

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.estimate import Estimator, differs
from interlock.learn.footprints import Footprints, declared_by, steady
from interlock.model.claim import Claim
from interlock.model.errors import EnvironmentProblem
from interlock.model.history import BranchHistory
from interlock.model.task import TaskId

AGAIN_AFTER = 3.0
"""Times as many attempts as the last time: then every task is worth another look. So a run of n attempts
looks log(n) times, not n times."""
FIRST_AGAIN = 4.0
BATCH = 200
"""Tasks between two chances for the rest of the engine: its leases are renewed meanwhile."""


class Estimates:
    """The forecasts of one controller's run. It remembers what it has looked at, and nothing else."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._accepted: set[TaskId] = set()
        self._known: float | None = None
        """Attempts that were known when all tasks were looked at last."""
        self._footprints = Footprints(BranchHistory())
        self._has_past = False

    def note(self, row: Recorded) -> None:
        """A row was folded: a task that is new or changed needs a forecast. One that failed needs another: it
        will probably edit again what it did the last time."""
        if isinstance(row.fact, f.TaskAccepted):
            self._accepted.add(row.fact.task.id)
        elif isinstance(row.fact, f.PhaseFailed):
            self._accepted.add(row.fact.task)

    async def refresh(self, ledger: Ledger, claim: Claim) -> None:
        """Write the forecasts that are due, and read them: what is decided next goes by them."""
        state = ledger.state
        if names := self._due(state):
            # Only where nothing is declared does a forecast go by the history.
            if not self._has_past and not all(declared_by(state.tasks[name].spec) for name in names):
                self._has_past = True
                self._footprints = Footprints(await self._past())
            await _tell_log(ledger, claim, await self._estimated(state, list(names)))

    async def _estimated(self, state: State, names: list[TaskId]) -> list[f.Fact]:
        facts: list[f.Fact] = []
        for at in range(0, len(names), BATCH):
            facts += estimated(state, names[at : at + BATCH], self._footprints)
            await asyncio.sleep(0)
        return facts

    async def _past(self) -> BranchHistory:
        try:
            return await self._env.repository.past()
        except EnvironmentProblem:
            return BranchHistory()  # the rest of the forecast is worth having

    def _due(self, state: State) -> Collection[TaskId]:
        known = sum(tally.attempts for tally in state.learned.tallies.kinds.values())
        accepted, self._accepted = self._accepted, set()
        if self._known is not None and known < max(FIRST_AGAIN, AGAIN_AFTER * self._known):
            return sorted(accepted & state.tasks.keys())
        self._known = known
        return state.tasks.keys()


def estimated(state: State, names: Collection[TaskId], footprints: Footprints) -> list[f.Fact]:
    """Forecasts of those of the tasks that are not over, where they say something new."""
    estimator = Estimator(state)
    tasks = [task for name in names if not (task := state.tasks[name]).is_over]
    forecasts = [
        (task, estimator.forecast(task.spec, steady(footprints.of(task), task.forecast))) for task in tasks
    ]
    return [
        f.TaskEstimated(task.spec.id, forecast)
        for task, forecast in forecasts
        if differs(forecast, task.forecast)
    ]


async def _tell_log(ledger: Ledger, claim: Claim, facts: list[f.Fact]) -> None:
    if facts:
        await ledger.append(facts, claim)
        await ledger.catch_up()
