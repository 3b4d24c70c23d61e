"""Carries out builds: the checks of a change on top of others that are not on main yet.

Rules:
1. A build lands nothing and judges nothing. The check of the change on main does that, and takes the results
   of this one where the files that a check saw are the same.
2. Nothing here is the fault of a task: what goes wrong defers builds, and the lane goes on without them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.engine.canary import check_order
from interlock.engine.controller_steps import ControllerSteps
from interlock.engine.env import Env
from interlock.engine.known import run_known
from interlock.engine.ledger import Ledger
from interlock.engine.resolving import Job
from interlock.engine.turn import KnownChecks
from interlock.events import facts as f
from interlock.model.claim import Claim, slot_resource
from interlock.model.errors import InterlockError, StaleEpoch
from interlock.model.evidence import build_checks
from interlock.model.leases import variables
from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason, Why, said
from interlock.model.step import StartBuild
from interlock.model.task import Change, Task, Tree
from interlock.train import retry
from interlock.verify.sources import is_source


@dataclass(frozen=True, slots=True)
class BuildTurn:
    """A build with its claim."""

    step: StartBuild
    claim: Claim
    spec: Task
    """The task whose change is tested."""
    changes: tuple[Change, ...]
    """The changes to merge onto main, in this order; the last is its own."""
    touched: tuple[str, ...]
    """Paths that its own change edits."""


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
        works = [task.change.work if task else None for task in tasks]
        changes = tuple(Change(work.commit, work.base) for work in works if work)
        own, spec = works[-1], tasks[-1]
        if own is None or spec is None or tuple(each.commit for each in changes) != step.works:
            return None

        def facts(epoch: int) -> Sequence[f.Fact]:
            what = (step.change, step.slot, epoch, step.ahead, step.works, step.main)
            return [f.BuildStarted(*what, self.controller.holder, step.why)]

        taken = await self.env.store.claim(
            slot_resource(step.slot), self.controller.holder, self.lease_seconds, facts, self.controller
        )
        return BuildTurn(step, taken[0], spec.spec, changes, own.touched) if taken else None

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
        merge = await self.env.repository.merge_all(
            turn.step.main, turn.changes, lambda merge: self.env.resolve(merge, job)
        )
        if merge.tree is None:
            return replace(self._fact(turn), conflicts=merge.conflicts)
        results = await self._check(turn, merge.tree)
        seconds = sum(result.seconds for result in results if not result.reused)
        return replace(self._fact(turn), tree=merge.tree, checks=tuple(results), seconds=seconds)

    async def _check(self, turn: BuildTurn, tree: Tree) -> Sequence[CheckResult]:
        spec, slot = turn.spec, turn.step.slot
        commands = tuple(dict.fromkeys((*spec.done_when, *spec.verify)))
        if not commands:
            return ()
        leased = variables(turn.step.leased)
        known = KnownChecks(self.ledger, spec, self.steps.environment, self.env.patience, leased)
        order = check_order(known, build_checks(slot, turn.claim.epoch), tree, commands)
        watched = tuple(path for path in turn.touched if is_source(path))
        order = replace(order, task=spec.id, watched=watched, changed=turn.touched)
        return await run_known(self.env, order, known.known)

    @staticmethod
    def _fact(turn: BuildTurn) -> f.BuildEnded:
        return f.BuildEnded(turn.step.change, turn.step.slot, turn.claim.epoch)
