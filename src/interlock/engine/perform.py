"""Carries steps out: each is performed and recorded here, also when it fails on the way.

Rules:
1. The result names the epoch of its claim. A late result is dropped, except that main moved: that is true no
   matter which process moved it.
2. A phase that is stopped archives the agent's files before it releases its claim.
3. Trouble outside a task defers it; any other error is its failure, and the breaker stops a repetition.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from interlock.engine.controller_steps import ControllerSteps
from interlock.engine.env import Env
from interlock.engine.hands import HANDS, CutShort, notes_of
from interlock.engine.ledger import Ledger
from interlock.engine.lessons import Offering, offer_facts
from interlock.engine.prompt import neighbours
from interlock.engine.turn import KnownChecks, Turn, frozen_copy
from interlock.events import facts as f
from interlock.events.state import TaskState
from interlock.learn.lessons import Offer
from interlock.model.claim import Claim, task_resource
from interlock.model.errors import EnvironmentProblem, InterlockError, StaleEpoch
from interlock.model.leases import variables
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why
from interlock.model.reason import said as because
from interlock.model.step import Archive, Recover, Start
from interlock.model.task import AttemptKey, PhaseKind, TaskId
from interlock.train import radar, retry

ENDS = (
    f.WorkFinished,
    f.QuestionAsked,
    f.NoChangeNeeded,
    f.PhaseFailed,
    f.PhaseLost,
    f.PhaseDeferred,
    f.WorkspaceArchived,
)
"""All that can end an attempt of an agent."""


class MainMoved(Exception):
    """Main moved between the decision to start an agent and the claim: it is decided once more."""


@dataclass(frozen=True, slots=True)
class Performer:
    """Performs the phases of tasks for one controller."""

    env: Env
    ledger: Ledger
    steps: ControllerSteps
    controller: Claim
    stale_seconds: float
    offering: Offering = field(default_factory=Offering)

    async def claim(self, step: Start) -> Turn | None:
        """Claim a task for its phase; nothing if another controller has it, or if main is moving."""
        task = self.ledger.state.tasks[step.task]
        offer = self.offering.make(self.env, self.ledger.state, task, step.attempt)

        def facts(epoch: int) -> Sequence[f.Fact]:
            # Asked for inside of the transaction: no agent starts on a main that was not looked at yet.
            if task.phase.kind is PhaseKind.AGENT and self.ledger.main_has_moved:
                raise MainMoved
            key = (step.task, step.attempt, step.phase, epoch)
            holder = self.controller.holder
            why = (step.why, step.agent, step.beside, step.agent_why)
            started = f.PhaseStarted(
                *key, holder, *why, leased=step.leased, together=step.together, reserved=step.reserved
            )
            return [started, *offer_facts(key, offer)]

        try:
            taken = await self._claim(step.task, facts)
        except MainMoved:
            return None
        return self._turn(task, taken, step, offer) if taken else None

    async def _claim(
        self, name: TaskId, facts: Callable[[int], Sequence[f.Fact]], takeover: int | None = None
    ) -> Claim | None:
        taken = await self.env.store.claim(
            task_resource(name), self.controller.holder, self.stale_seconds, facts, self.controller, takeover
        )
        return taken[0] if taken else None

    def _turn(self, task: TaskState, claim: Claim, step: Start, offer: Offer) -> Turn:
        run, tasks = self.ledger.state.run, self.ledger.state.tasks
        return Turn(
            task=frozen_copy(task),
            claim=claim,
            attempt=step.attempt,
            agent=task.spec.agent_named(step.agent),
            neighbours=neighbours(self.ledger.state, task.spec.id),
            lessons=offer.given,
            branch=self.ledger.state.main.branch,
            generation=self.controller.epoch,
            see_main=self.steps.main.see,
            checks=KnownChecks(
                self.ledger,
                task.spec,
                self.steps.environment,
                self.env.patience,
                variables(step.leased),
            ),
            run=run.run if run else "",
            note=self.steps.note,
            mention=self.steps.mention,
            tell=self.ledger.tell,
            reserved=step.reserved,
            together=tuple(map(frozen_copy, (tasks[name] for name in step.together if name in tasks))),
        )

    async def perform(self, turn: Turn) -> None:
        """Carry out a claimed phase and record its result, also when it fails on the way."""
        try:
            facts = await self._attempt(turn)
        except asyncio.CancelledError:
            facts = await self._interrupted(turn)
        await self._record(turn, facts)

    async def _attempt(self, turn: Turn) -> Sequence[f.Fact]:
        limit = retry.longest_seconds(turn.task) + self.stale_seconds
        try:
            async with asyncio.timeout(limit):
                return await HANDS[turn.task.phase.kind](self.env, turn)
        except TimeoutError:
            await self._archive(turn.task, turn.attempt, ErrorClass.TIMEOUT.value)
            failure = _failure(turn, ErrorClass.TIMEOUT, Reason(Why.NO_RESULT, {"seconds": limit}))
            return [*notes_of(self.env, turn.task.spec.id, turn.attempt), failure]
        except StaleEpoch:
            raise
        except CutShort as problem:
            return [_deferral(turn, problem.why, problem.archived)]
        except EnvironmentProblem as problem:
            return [_deferral(turn, because(str(problem)))]
        except Exception as problem:  # noqa: BLE001 - the loop must survive it; the breaker stops a repetition
            return [_failure(turn, ErrorClass.ENVIRONMENT, because(said(problem)))]

    async def _interrupted(self, turn: Turn) -> Sequence[f.Fact]:
        ref = ""
        if turn.task.phase.kind is PhaseKind.AGENT:
            ref = await self._end(turn.task.spec.id, turn.attempt)
        return [retry.stopped(turn.key, ref)]

    async def end_and_archive(self, step: Archive) -> None:
        """Make sure that nothing of an attempt runs any more, and keep what it left."""
        await self._end(step.task, step.attempt)

    async def _end(self, task: TaskId, attempt: int) -> str:
        ref = await self.env.executor.recover(AttemptKey(task, attempt), "stopped")
        archived = f.WorkspaceArchived(task, attempt, ref, Reason(Why.STOPPED))
        await self.steps.note([*self._paid([archived]), *notes_of(self.env, task, attempt)])
        return ref

    async def _archive(self, task: TaskState, attempt: int, why: str) -> str:
        if task.phase.kind is not PhaseKind.AGENT:
            return ""
        return await self.env.executor.recover(AttemptKey(task.spec.id, attempt), why)

    def _paid(self, facts: Sequence[f.Fact]) -> list[f.Fact]:
        """Add the agent's usage to the facts that end an attempt, whatever ended it: it is paid for. Without
        a report it comes from the transcript."""
        return [
            replace(fact, usage=self.env.executor.spent(AttemptKey(fact.task, fact.attempt)))
            if isinstance(fact, ENDS) and fact.usage is None
            else fact
            for fact in facts
        ]

    async def _record(self, turn: Turn, facts: Sequence[f.Fact]) -> None:
        if turn.task.phase.kind is PhaseKind.AGENT:
            facts = self._paid(facts)
        try:
            # Together with its facts: until they are folded, State has its overlaps.
            yielding = radar.gives_way(self.ledger.state, facts)
            ends = retry.endings(turn.task, facts, turn.agent.name)
            await self.ledger.release(turn.claim, [*facts, *ends, *yielding], self.controller)
        except StaleEpoch:
            if true_anyway := [fact for fact in facts if isinstance(fact, f.Landed | f.MainSeen)]:
                await self.steps.note(true_anyway)

    async def recover(self, step: Recover) -> None:
        """Recover a phase without a worker: fence its last holder, keep what is left, let the task go on."""
        task = frozen_copy(self.ledger.state.tasks[step.task])
        claim = await self._take_over(step.task)
        if claim is None:
            return
        archived = await self._archive(task, step.attempt, "lost")
        key = (step.task, step.attempt, step.phase, step.epoch)
        notes = notes_of(self.env, step.task, step.attempt)
        lost, is_agent = retry.lost(task, key, step.why, archived), task.phase.kind is PhaseKind.AGENT
        await self.ledger.release(claim, [*notes, *(self._paid(lost) if is_agent else lost)], self.controller)

    async def _take_over(self, name: TaskId) -> Claim | None:
        resource = task_resource(name)
        epochs = [row.claim.epoch for row in await self.env.store.held() if row.claim.resource == resource]
        return await self._claim(name, lambda _epoch: [], takeover=epochs[0] if epochs else None)


def said(problem: Exception) -> str:
    """An error in words."""
    return str(problem) if isinstance(problem, InterlockError) else f"{type(problem).__name__}: {problem}"


def _deferral(turn: Turn, why: Reason, archived: str = "") -> f.Fact:
    put_off = retry.deferred(turn.task, turn.key, why, archived)
    return put_off or _failure(turn, ErrorClass.ENVIRONMENT, why)


def _failure(turn: Turn, error: ErrorClass, why: Reason) -> f.Fact:
    return retry.failed(turn.key, error, why)
