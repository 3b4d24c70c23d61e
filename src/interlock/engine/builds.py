"""Carries out builds: the checks of a change on top of others that are not on main yet.

Rules:
1. A build lands nothing and judges nothing. The check of the change on main does that, and takes the results
   of this one where the files that a check saw are the same.
2. Nothing here is the fault of a task: what goes wrong defers builds, and the lane goes on without them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.engine.controller_steps import ControllerSteps
from interlock.engine.env import Env
from interlock.engine.judging import about, order_for
from interlock.engine.known import narrowed, run_known
from interlock.engine.ledger import Ledger
from interlock.engine.resolving import Job
from interlock.engine.turn import KnownChecks
from interlock.events import facts as f
from interlock.events.task_parts import Work
from interlock.model.claim import Claim, slot_resource
from interlock.model.errors import InterlockError, StaleEpoch
from interlock.model.evidence import build_checks
from interlock.model.leases import variables
from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason, Why, said
from interlock.model.step import StartBuild
from interlock.model.task import Change, Task, Tree
from interlock.train import retry


def is_green(results: Sequence[CheckResult]) -> bool:
    """Return True if all changes of a build may land as one, as far as its checks tell."""
    return all(result.passed for result in results)


@dataclass(frozen=True, slots=True)
class BuildTurn:
    """A build with its claim."""

    step: StartBuild
    claim: Claim
    specs: tuple[Task, ...]
    """The tasks of its changes, in the order in which they are merged; the last is the one that is tested."""
    works: tuple[Work, ...]

    @property
    def spec(self) -> Task:
        return self.specs[-1]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes to merge onto main."""
        return tuple(Change(work.commit, work.base) for work in self.works)

    @property
    def touched(self) -> list[tuple[str, ...]]:
        """Paths that each of them edits."""
        return [work.touched for work in self.works]


@dataclass(frozen=True, slots=True)
class Builder:
    """Carries out the builds of one controller."""

    env: Env
    ledger: Ledger
    steps: ControllerSteps
    controller: Claim
    lease_seconds: float

    async def claim(self, step: StartBuild) -> BuildTurn | None:
        """Claim the slot; None if it is taken, or if a change is not what it was at the decision."""
        tasks = [self.ledger.state.tasks.get(name) for name in (*step.ahead, step.change)]
        known = [(task.spec, task.change.work) for task in tasks if task and task.change.work]
        specs, works = tuple(spec for spec, _ in known), tuple(work for _, work in known)
        if tuple(work.commit for work in works) != step.works:
            return None

        def facts(epoch: int) -> Sequence[f.Fact]:
            what = (step.change, step.slot, epoch, step.ahead, step.works, step.main)
            return [f.BuildStarted(*what, self.controller.holder, step.why, step.batch)]

        taken = await self.env.store.claim(
            slot_resource(step.slot), self.controller.holder, self.lease_seconds, facts, self.controller
        )
        return BuildTurn(step, taken[0], specs, works) if taken else None

    async def perform(self, turn: BuildTurn) -> None:
        """Carry a claimed build out, and record its end however it ends."""
        try:
            ended = await self._ended(turn)
        except asyncio.CancelledError:
            ended = replace(self._fact(turn), why=Reason(Why.STOPPED))
        await self.ledger.release(turn.claim, [ended], self.controller)

    async def _ended(self, turn: BuildTurn) -> f.BuildEnded:
        try:
            return await self._build(turn)
        except StaleEpoch:
            raise
        except Exception as problem:  # noqa: BLE001 - the loop must survive it; builds wait before the next
            known = isinstance(problem, InterlockError)
            text = str(problem) if known else f"{type(problem).__name__}: {problem}"
            delay = retry.trouble_delay(self.ledger.state.builds.failures + 1)
            return replace(self._fact(turn), why=said(text), retry_after_seconds=delay)

    async def _build(self, turn: BuildTurn) -> f.BuildEnded:
        name = build_checks(turn.step.slot, turn.claim.epoch)
        job = Job(name, turn.spec.id, turn.spec.check_seconds)
        *_, merge = await self.env.repository.merge_all(
            turn.step.main, turn.changes, lambda merge: self.env.resolve(merge, job)
        )
        if merge.tree is None:
            return replace(self._fact(turn), conflicts=merge.conflicts)
        return await self._check(turn, merge.tree)

    async def _check(self, turn: BuildTurn, tree: Tree) -> f.BuildEnded:
        leased = variables(turn.step.leased)
        known = KnownChecks(self.ledger, turn.spec, self.steps.environment, self.env.patience, leased)
        name = build_checks(turn.step.slot, turn.claim.epoch)
        whole = order_for(known, name, tree, turn.specs[-turn.step.batch :])
        results = await run_known(self.env, about(whole, *turn.touched), known.known)
        own = about(whole, turn.touched[-1])
        is_joint = len(turn.touched) > 1 and is_green(results)
        return replace(
            self._fact(turn),
            tree=tree,
            checks=tuple(narrowed(result, own) for result in results),
            joint=tuple(replace(result, tail="", suite=None) for result in results) if is_joint else (),
            seconds=sum(result.seconds for result in results if not result.reused),
        )

    @staticmethod
    def _fact(turn: BuildTurn) -> f.BuildEnded:
        return f.BuildEnded(turn.step.change, turn.step.slot, turn.claim.epoch)
