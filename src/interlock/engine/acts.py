"""What one controller has under way: each act claims, performs and records, and nothing else.

Rules:
1. The claim is written before the act and the result after it; both name the epoch.
2. A result that comes too late is dropped, except that main moved: that is true whoever moved it.
3. An act that is stopped archives what the agent wrote before it lets go.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.engine.env import Env
from interlock.engine.hands import HANDS, landed
from interlock.engine.ledger import Ledger
from interlock.engine.mainline import Mainline
from interlock.engine.options import Options
from interlock.engine.turn import Turn, frozen_copy
from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.merge import give_up
from interlock.model.claim import Claim, task_resource
from interlock.model.errors import EnvironmentProblem, InterlockError, StaleEpoch, StoreUnavailable
from interlock.model.outcome import ErrorClass
from interlock.model.step import Archive, Reconcile, Recover, Start, Step
from interlock.model.task import PhaseKind, TaskId, Tree

DEFER_SECONDS = 2.0
MAX_DEFER_SECONDS = 30.0
MAX_DEFERRALS = 20
"""Some nine minutes of a full disk; after that it counts as the task's failure, and the breaker speaks."""


@dataclass(slots=True)
class Act:
    """Something under way about a task."""

    task: asyncio.Task[None]
    claim: Claim | None
    attempt: int
    can_stop: bool


class Acts:
    """The acts of one controller, one a task at the most."""

    def __init__(
        self,
        env: Env,
        ledger: Ledger,
        main: Mainline,
        claim: Claim,
        options: Options,
        done: Callable[[], None],
    ) -> None:
        self._env = env
        self._ledger = ledger
        self._main = main
        self._claim = claim
        self._options = options
        self._done = done
        self._lease_ends = 0.0
        self.under_way: dict[TaskId, Act] = {}
        self._ended: list[TaskId] = []
        """Acts that are over, but whose last facts may not have been read yet."""

    async def begin(self, step: Step) -> None:
        """Set one step going. A start is claimed before this returns."""
        match step:
            case Start():
                await self._start(step)
            case Recover():
                self._go(step.task, self._recover(step), step.attempt)
            case Archive():
                self._go(step.task, self._end_and_archive(step), step.attempt)
            case Reconcile():
                self._go(step.task, self._reconcile(step), 0)

    async def catch_up(self) -> None:
        """Read what is new; acts that ended before that are forgotten, because now the log shows it."""
        ended, self._ended = self._ended, []
        try:
            await self._ledger.catch_up()
        except StoreUnavailable:
            self._ended += ended
            raise
        for name in ended:
            del self.under_way[name]

    def end_unwanted(self) -> None:
        """Stop what a person cancelled or reset, or everything when the run is told to."""
        state = self._ledger.state
        stop_all = state.run is not None and state.run.stop_agents
        for name, act in self.under_way.items():
            if not act.can_stop or act.claim is None:
                continue
            task = state.tasks[name]
            # Until its PhaseStarted is folded the task looks older than the act.
            gone = task.epoch >= act.claim.epoch and (
                task.stage is not Stage.RUNNING or task.epoch > act.claim.epoch
            )
            if stop_all or gone:
                act.can_stop = False
                act.task.cancel()

    def extend(self, seconds: float) -> None:
        """The controller's lease was renewed: its agents may live on."""
        self._lease_ends = asyncio.get_running_loop().time() + seconds
        for name, act in self.under_way.items():
            if act.claim is not None:
                self._env.executor.extend(name, act.attempt, seconds)

    async def renew(self) -> None:
        """Heartbeats, for ever, of the tasks under way."""
        while True:
            await asyncio.sleep(self._options.stale_seconds / 4)
            for act in list(self.under_way.values()):
                if act.claim is not None:
                    try:
                        await self._env.store.renew(act.claim, self._options.stale_seconds)
                    except StoreUnavailable:
                        continue  # it comes round again; the epoch protects the task, not the lease

    def _go(
        self,
        name: TaskId,
        act: Coroutine[Any, Any, None],
        attempt: int,
        claim: Claim | None = None,
        can_stop: bool = False,
    ) -> None:
        self.under_way[name] = Act(
            asyncio.create_task(self._see_through(name, act)), claim, attempt, can_stop
        )

    async def _see_through(self, name: TaskId, act: Coroutine[Any, Any, None]) -> None:
        try:
            await act
        except (StaleEpoch, StoreUnavailable):
            pass  # taken from us, or not known: either way the log says what is true, and the loop reads it
        finally:
            self._ended.append(name)
            self._done()

    async def _start(self, step: Start) -> None:
        task = self._ledger.state.tasks[step.task]

        def facts(epoch: int) -> Sequence[f.Fact]:
            key = (step.task, step.attempt, step.phase, epoch)
            return [f.PhaseStarted(*key, holder=self._claim.holder, why=step.why, agent=task.spec.agent.name)]

        taken = await self._env.store.claim(
            task_resource(step.task),
            self._claim.holder,
            self._options.stale_seconds,
            facts,
            fence=self._claim,
        )
        if taken is None:
            return
        turn = self._turn(task, taken[0], step.attempt)
        # A landing is never stopped: between moving main and saying so there must be nothing.
        can_stop = turn.task.phase.kind is not PhaseKind.LAND
        self._go(step.task, self._perform(turn), step.attempt, taken[0], can_stop)

    def _turn(self, task: TaskState, claim: Claim, attempt: int) -> Turn:
        return Turn(
            task=frozen_copy(task),
            claim=claim,
            attempt=attempt,
            branch=self._ledger.state.branch,
            generation=self._claim.epoch,
            lease_left=self._lease_left,
            see_main=self._main.see,
            base_exit=self._base_exit,
            note=self._note,
        )

    async def _perform(self, turn: Turn) -> None:
        """Carry out a claimed phase and record how it went, whatever happens on the way."""
        try:
            facts = await self._attempt(turn)
        except asyncio.CancelledError:
            facts = await self._interrupted(turn)
        await self._record(turn, facts)

    async def _attempt(self, turn: Turn) -> Sequence[f.Fact]:
        spec = turn.task.spec
        # The hands have limits of their own; this one is for a hand that hangs.
        limit = spec.timeout_seconds + 2 * spec.check_seconds + self._options.stale_seconds
        try:
            async with asyncio.timeout(limit):
                return await HANDS[turn.task.phase.kind](self._env, turn)
        except TimeoutError:
            await self._archive(turn.task, turn.attempt)
            return [_failure(turn, ErrorClass.TIMEOUT, f"no result after {limit:.0f} s")]
        except StaleEpoch:
            raise
        except EnvironmentProblem as problem:
            return [_deferral(turn, str(problem))]
        except (InterlockError, OSError, ValueError, RuntimeError, AssertionError) as problem:
            # The loop must survive whatever one task brings up; the breaker stops a task that repeats it.
            return [_failure(turn, ErrorClass.ENVIRONMENT, f"{type(problem).__name__}: {problem}")]

    async def _interrupted(self, turn: Turn) -> Sequence[f.Fact]:
        if turn.task.phase.kind is PhaseKind.AGENT:
            await self._end_and_archive(Archive(turn.task.spec.id, turn.attempt))
        return [f.PhaseDeferred(*turn.key, why="stopped on request", retry_after_seconds=0.0)]

    async def _end_and_archive(self, step: Archive) -> None:
        ref = await self._env.executor.recover(step.task, step.attempt)
        await self._note([f.WorkspaceArchived(step.task, step.attempt, ref, why="the attempt was stopped")])

    async def _archive(self, task: TaskState, attempt: int) -> str:
        if task.phase.kind is not PhaseKind.AGENT:
            return ""
        return await self._env.executor.recover(task.spec.id, attempt)

    async def _record(self, turn: Turn, facts: Sequence[f.Fact]) -> None:
        try:
            await self._ledger.release(turn.claim, [*facts, *_endings(turn.task, facts)], self._claim)
        except StaleEpoch:
            if true_anyway := [fact for fact in facts if isinstance(fact, f.Landed | f.MainSeen)]:
                await self._note(true_anyway)

    async def _recover(self, step: Recover) -> None:
        """Nobody works on this phase any more: fence whoever did, keep what is left, let the task go on."""
        task = frozen_copy(self._ledger.state.tasks[step.task])
        claim = await self._take_over(step.task)
        if claim is None:
            return
        archived = await self._archive(task, step.attempt)
        lost = f.PhaseLost(step.task, step.attempt, step.phase, step.epoch, why=step.why, archived=archived)
        await self._ledger.release(claim, [lost, *_endings(task, [lost])], self._claim)

    async def _take_over(self, name: TaskId) -> Claim | None:
        resource = task_resource(name)
        epochs = [row.claim.epoch for row in await self._env.store.held() if row.claim.resource == resource]
        taken = await self._env.store.claim(
            resource,
            self._claim.holder,
            self._options.stale_seconds,
            lambda _epoch: [],
            fence=self._claim,
            takeover=epochs[0] if epochs else None,
        )
        return taken[0] if taken else None

    async def _reconcile(self, step: Reconcile) -> None:
        task = self._ledger.state.tasks[step.task]
        candidate = task.candidate
        if candidate is None or candidate.commit != step.commit:
            return
        on_main = await self._env.repository.contains(step.commit)
        await self._note([landed(task, candidate) if on_main else f.CandidateDropped(step.task, step.commit)])

    async def _note(self, facts: Sequence[f.Fact]) -> None:
        await self._ledger.append(facts, self._claim)

    def _lease_left(self) -> float:
        return self._lease_ends - asyncio.get_running_loop().time()

    def _base_exit(self, tree: Tree, command: str) -> int | None:
        return self._ledger.state.base_checks.get(f"{tree}:{command}")


def _deferral(turn: Turn, why: str) -> f.Fact:
    """Later, then; but not for ever."""
    if turn.task.deferrals >= MAX_DEFERRALS:
        return _failure(turn, ErrorClass.ENVIRONMENT, why)
    delay = min(MAX_DEFER_SECONDS, DEFER_SECONDS * 2**turn.task.deferrals)
    return f.PhaseDeferred(*turn.key, why=why, retry_after_seconds=delay)


def _failure(turn: Turn, error: ErrorClass, summary: str) -> f.PhaseFailed:
    return f.PhaseFailed(
        *turn.key, error=error, summary=summary, fingerprint=summary, retry_after_seconds=DEFER_SECONDS
    )


def _endings(task: TaskState, facts: Sequence[f.Fact]) -> list[f.Fact]:
    """The end of the task, if what happened is one setback too many."""
    setbacks = [fact for fact in facts if isinstance(fact, f.PhaseFailed | f.PhaseLost)]
    return [end for setback in setbacks if (end := give_up(task, setback))]
