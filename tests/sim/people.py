"""Everybody besides the engine: people who press keys, somebody else who pushes to main, clocks, echoes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random

from interlock.engine.undo import facts_of, plan_undo
from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.main import freezes
from interlock.events.state import State
from interlock.model.claim import task_resource
from interlock.model.reason import said
from interlock.model.task import Reverted, TaskId
from interlock.store.protocol import Store
from interlock.train.undo import landed_commit, undoing
from tests.sim.fake_git import FakeRepository
from tests.sim.graph import LEASE_SECONDS, PROVIDER, TOOL_IS_GONE
from tests.sim.invariants import REPEATED, Invariants
from tests.sim.loop import Simulation

PERSON = "a person"

Deed = Callable[[Random], Awaitable[None]]


class DatabaseClock:
    """The one clock that counts. It runs with virtual time, and can be put forward."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.ahead = 1_700_000_000.0

    def __call__(self) -> float:
        return self._simulation.now() + self.ahead


@dataclass(frozen=True, slots=True)
class People:
    """What others do to a running project, at moments the dice choose."""

    simulation: Simulation
    store: Store
    repository: FakeRepository
    invariants: Invariants
    clock: DatabaseClock

    async def meddle(self, every_seconds: float) -> None:
        """Go on until cancelled."""
        dice = self.simulation.dice("people")
        deeds = self._deeds()
        while True:
            await asyncio.sleep(dice.expovariate(1 / every_seconds))
            deed = dice.choices([deed for deed, _ in deeds], [weight for _, weight in deeds])[0]
            await deed(dice)

    async def change_their_minds(self, every_seconds: float) -> None:
        """Undo what has landed, or the commit that made main red, until cancelled."""
        dice = self.simulation.dice("undo")
        while True:
            await asyncio.sleep(dice.expovariate(1 / every_seconds))
            await self._undo(dice)

    async def _undo(self, dice: Random) -> None:
        broken = self._state.main.broken
        wanted = [Reverted(c, n) for n in sorted(self._state.tasks) if (c := landed_commit(self._state, n))]
        if broken and broken.culprit and dice.random() < 0.7:
            wanted = [Reverted(broken.culprit.commit, broken.culprit.task)]
        main = self.repository.refs[self.repository.ref]
        if not wanted:
            return
        each = dice.choice(wanted)
        later = dice.random() < 0.5
        plan = await plan_undo(self.repository, self._state, main, [each], include_later=later)
        if plan.revert.commit and not undoing(self._state, plan.undoes):
            self.simulation.note(f"somebody undoes {each.task or each.commit[:8]}")
            await self.store.append(facts_of(self._state, plan, main, PERSON), PERSON)

    async def leave(self) -> None:
        """Take back every pause and answer every question, so that what is left can be done."""
        paused = [name for name, task in sorted(self._state.tasks.items()) if task.queue.paused]
        await self.store.append(
            [f.Unpaused(), *(f.Unpaused(name) for name in paused), *self._answers()], PERSON
        )
        self.mend()

    def mend(self) -> None:
        """Somebody brings back what checks need to run at all."""
        here = self.repository.files(self.repository.refs[self.repository.ref])
        bad = [TOOL_IS_GONE, "broken"] if freezes(self._state) else [TOOL_IS_GONE]
        if any(path in here for path in bad):
            self.repository.push(dict.fromkeys(bad), "somebody mends the lint\n")

    @property
    def _state(self) -> State:
        return self.invariants.state

    def _deeds(self) -> list[tuple[Deed, int]]:
        return [
            (self._push, 20),
            (self._pause, 8),
            (self._unpause, 12),
            (self._reset, 10),
            (self._cancel, 3),
            (self._retry, 8),
            (self._answer, 8),
            (self._stop, 3),
            (self._edit, 5),
            (self._remove, 2),
            (self._put_the_clock_forward, 4),
            (self._echo, 25),
            (self._turn_calls_away, 6),
        ]

    async def _push(self, dice: Random) -> None:
        self.push(dice)

    def push(self, dice: Random) -> None:
        """Somebody else changes main."""
        path = dice.choice(["src/a", "docs/c", "notes", "broken", TOOL_IS_GONE])
        content: str | None = f"theirs {dice.randrange(10**6)}\n"
        here = self.repository.files(self.repository.refs[self.repository.ref])
        if path in ("broken", TOOL_IS_GONE) and path in here:
            content = None
        commit = self.repository.push({path: content}, f"somebody else changes {path}\n")
        self.simulation.note(f"somebody pushes {commit[:8]} to main: {path}")

    async def _pause(self, dice: Random) -> None:
        await self.pause(None if dice.random() < 0.5 else self._any_task(dice))

    async def pause(self, task: TaskId | None) -> None:
        """Somebody wants to think first."""
        await self.store.append([f.Paused(task, "a cup of tea")], PERSON)

    async def _unpause(self, dice: Random) -> None:
        await self.leave()

    async def _reset(self, dice: Random) -> None:
        await self.reset(self._busy_task(dice))

    async def reset(self, task: TaskId) -> None:
        """Somebody thinks it is stuck."""
        await self.store.revoke(task_resource(task), [f.TaskReset(task, "looks stuck")], PERSON)

    async def _cancel(self, dice: Random) -> None:
        await self.cancel(self._busy_task(dice))

    async def cancel(self, task: TaskId) -> None:
        """Somebody does not want it any more."""
        await self.store.append([f.TaskCancelled(task, "not needed")], PERSON)

    async def _retry(self, dice: Random) -> None:
        over = [n for n, t in sorted(self._state.tasks.items()) if t.stage in (Stage.FAILED, Stage.CANCELLED)]
        if over:
            await self.store.append([f.TaskRetried(dice.choice(over), "try harder")], PERSON)

    async def _answer(self, dice: Random) -> None:
        await self.store.append(self._answers()[:1], PERSON)

    def _answers(self) -> list[f.QuestionAnswered]:
        return [
            f.QuestionAnswered(name, asked.attempt, "the first")
            for name, task in sorted(self._state.tasks.items())
            if (asked := task.asks)
        ]

    async def _edit(self, dice: Random) -> None:
        """The task graph was changed and read again."""
        spec = self._state.tasks[self._any_task(dice)].spec
        needs = tuple(need for need in spec.needs if dice.random() < 0.8)
        await self.store.append(
            [f.TaskAccepted(replace(spec, needs=needs, priority=dice.randrange(5)))], PERSON
        )

    async def _remove(self, dice: Random) -> None:
        """A task is taken out of the graph, and mostly comes back."""
        task = self._busy_task(dice)
        await self.store.append([f.TaskRemoved(task)], PERSON)
        if dice.random() < 0.7:
            await asyncio.sleep(dice.uniform(0.0, 10.0))
            await self.store.append([f.TaskAccepted(self._state.tasks[task].spec)], PERSON)

    async def _stop(self, dice: Random) -> None:
        if self._state.run is not None:
            await self.store.append([f.StopRequested(self._state.run.run, dice.random() < 0.5)], PERSON)

    async def _put_the_clock_forward(self, dice: Random) -> None:
        seconds = LEASE_SECONDS * dice.uniform(0.1, 3.0)
        self.clock.ahead += seconds
        self.simulation.note(f"the database's clock jumps {seconds:.1f} s ahead")

    async def _echo(self, dice: Random) -> None:
        """An old report about a phase arrives once more."""
        reports = [row.fact for row in self.invariants.rows[-200:] if isinstance(row.fact, f.PhaseFact)]
        if reports:
            await self.store.append([dice.choice(reports)], REPEATED)

    async def _turn_calls_away(self, dice: Random) -> None:
        """The provider of the model takes less, or for a while nothing at all."""
        closed = dice.choice([0.0, dice.uniform(1.0, 30.0)])
        until = await self.store.now() + closed if closed else 0.0
        limit = dice.uniform(0.5, 4.0)
        await self.store.append([f.ProviderBraked(PROVIDER, limit, said("429"), until, 20, 2)], PERSON)

    def _busy_task(self, dice: Random) -> TaskId:
        """Mostly one that something is being done about: that is where people interfere."""
        busy = sorted({*self._state.index.running, *self._state.index.train})
        return dice.choice(busy) if busy and dice.random() < 0.8 else self._any_task(dice)

    def _any_task(self, dice: Random) -> TaskId:
        return dice.choice(sorted(self._state.tasks))
