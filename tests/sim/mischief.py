"""Trouble that knows when it hurts. Chance alone finds the narrow windows too seldom."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

from interlock.events import facts as f
from interlock.model.task import PIPELINE, TaskId
from tests.sim.faults import OWNER, Incarnation
from tests.sim.graph import LEASE_SECONDS, Graph
from tests.sim.loop import Simulation
from tests.sim.people import People


class Mischief:
    """Watches the run, and strikes just after a fact or a landing."""

    def __init__(
        self,
        simulation: Simulation,
        people: People,
        incarnations: dict[str, Incarnation],
        trouble: Callable[[str], bool],
        start_another: Callable[[str, float], Coroutine[Any, Any, None]],
    ) -> None:
        self.simulation, self.people, self.incarnations = simulation, people, incarnations
        self.is_over = False
        self.is_for_joint_only = False
        """It strikes only where several changes are checked or landed as one."""
        self._trouble, self._start_another = trouble, start_another
        self._dice = simulation.dice("mischief")
        self._joint_dice = simulation.dice("mischief with joint checks")
        self._chance = self._dice.choice([0.0, 0.1, 0.3])
        self._errands: list[asyncio.Task[None]] = []

    def after_fact(self, fact: f.Fact) -> None:
        is_joint = isinstance(fact, f.CandidateJoined) or (isinstance(fact, f.PhaseStarted) and fact.together)
        if self.is_over or (self.is_for_joint_only and not is_joint):
            return
        if isinstance(fact, f.RunStarted):
            self._wake_zombies(fact.holder)
        elif isinstance(fact, f.CandidateJoined):
            if self._joint_dice.random() < 0.5:  # it must not land with the others then
                self._later(self._joint_dice.choice([self.people.reset, self.people.cancel])(fact.task))
        elif isinstance(fact, f.CandidatePassed) and self._dice.random() < self._chance:
            self.people.push(self._dice)
        elif isinstance(fact, f.PhaseStarted):
            self._after_claim(fact)
        elif isinstance(fact, f.SessionOpened) and self._dice.random() < self._chance / 3:
            self._put_to_sleep(OWNER.get())  # all is made ready, and the agent has not started

    def _after_claim(self, fact: f.PhaseStarted) -> None:
        is_landing = fact.phase == PIPELINE[-1].name
        if fact.together and not is_landing and self._joint_dice.random() < 0.5:
            self.people.push(self._joint_dice)  # main is not what the build of them was made on any more
        if self._dice.random() < self._chance * (2 if is_landing else 1 / 3):
            self._put_to_sleep(self.incarnations[fact.holder], "before repository.land" if is_landing else "")
            if is_landing:
                self._interfere(fact.task)

    def after_landing(self, task: TaskId) -> None:
        """Main has moved and nobody has said so yet."""
        if self.is_over or self._dice.random() >= self._chance:
            return
        self._interfere(task)
        who = OWNER.get()
        if who is not None and self._dice.random() < 0.5 and self._trouble("crash"):
            self.simulation.note(f"{who.name}: crash before it can say that {task} landed")
            who.crash()

    def selection(self, graph: Graph) -> tuple[TaskId, ...] | None:
        """Sometimes only some tasks are to run."""
        if self.is_over or self._dice.random() < 0.9:
            return None
        return tuple(task.id for task in graph.tasks if self._dice.random() < 0.5)

    def press_keys(self, stop: Callable[[], object]) -> None:
        """Sometimes somebody presses Ctrl-C, and sometimes once more."""
        if self.is_over or self._dice.random() < 0.85:
            return
        after = self._dice.uniform(0.0, 40.0)
        for wait in (after, after + 2.0)[: self._dice.choice([1, 2])]:
            self.simulation.loop.call_later(wait, stop)

    def _interfere(self, task: TaskId) -> None:
        self._later(self._dice.choice([self.people.reset, self.people.cancel, self.people.pause])(task))

    def _put_to_sleep(self, who: Incarnation | None, moment: str = "") -> None:
        """Stop an engine now or at that moment; once its lease is over, another one starts."""
        if who is not None and who.alive and self._trouble("pause"):
            self.simulation.note(f"{who.name}: pause {moment or 'before the act'}")
            seconds = LEASE_SECONDS * self._dice.uniform(1.1, 3.0)
            if moment:
                who.pause_at, who.pause_seconds = moment, seconds
            else:
                who.paused_until = self.simulation.now() + seconds
            after = LEASE_SECONDS + self._dice.uniform(0.0, 8.0)
            self._later(self._start_another(f"{who.name}-next{len(self._errands)}", after))

    def _wake_zombies(self, holder: str) -> None:
        """Some who slept through a takeover come back while the new one gets going."""
        for who in self.incarnations.values():
            if who.name != holder and who.paused_until > self.simulation.now() and self._dice.random() < 0.5:
                who.wake_by(self.simulation.now() + self._dice.random() * self._dice.choice([0.3, 3.0]))

    def _later(self, errand: Coroutine[Any, Any, None]) -> None:
        # In nobody's name: it does not end with the engine that it happens to.
        self._errands.append(asyncio.create_task(errand, context=contextvars.Context()))
