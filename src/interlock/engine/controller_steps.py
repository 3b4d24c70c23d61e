"""Carries out the steps that need no claim of a task: they only look, and write facts as the controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from interlock.engine.baseline import Trial, tried_on_main
from interlock.engine.culprit import culprit_facts
from interlock.engine.env import Env
from interlock.engine.hands import landed
from interlock.engine.ledger import Ledger
from interlock.engine.loading import unknown_reason, unknown_text
from interlock.engine.mainline import Mainline
from interlock.engine.scope_words import scope_text
from interlock.events import facts as f
from interlock.events.known_checks import has_passed, known_check
from interlock.model.claim import Claim
from interlock.model.errors import StoreUnavailable
from interlock.model.leases import variables
from interlock.model.step import CheckMain, FindCulprit, GiveUp, Reconcile, Tell, Widen
from interlock.model.task import AttemptKey, all_inputs
from interlock.train.red_main import judgement


@dataclass(frozen=True, slots=True)
class ControllerSteps:
    """The steps of one controller under its own claim alone."""

    env: Env
    ledger: Ledger
    main: Mainline
    controller: Claim

    async def reconcile(self, step: Reconcile) -> None:
        """Find out whether a tested commit of a task that has moved on is on main."""
        task = self.ledger.state.tasks[step.task]
        candidate = task.change.candidate
        if candidate is None or candidate.commit != step.commit:
            return
        on_main = await self.env.repository.contains(step.commit)
        await self.note([landed(task, candidate) if on_main else f.CandidateDropped(step.task, step.commit)])

    async def delivered(self, step: Tell) -> None:
        """Say that an agent took a person's message."""
        await self.note([f.MessageDelivered(step.task, step.attempt, step.message)])

    async def widen(self, step: Widen) -> None:
        """Answer a request for scope; an agent that takes no messages reads it in its next prompt."""
        answer = (step.paths, step.granted)
        await self.note([f.ScopeAnswered(step.task, step.attempt, *answer, step.why, step.request)])
        self.env.executor.widen(AttemptKey(step.task, step.attempt), *answer, scope_text(step.why))

    async def wind_down(self) -> None:
        """Stop the run for a fact that this version does not understand."""
        state = self.ledger.state
        text = unknown_text(state)
        self.ledger.tell(f"{text}: nothing new starts, and the run ends when what runs now is finished")
        await self.note([f.StopRequested(state.run.run if state.run else "", reason=unknown_reason(state))])

    async def give_up(self, step: GiveUp) -> None:
        """Say that a task has waited too long. What it has made so far is kept."""
        await self.note([f.TaskFailed(step.task, step.attempt, step.why)])

    async def note(self, facts: Sequence[f.Fact]) -> None:
        """Record facts as the controller."""
        await self.ledger.append(facts, self.controller)

    async def mention(self, facts: Sequence[f.Fact]) -> None:
        """Record facts that are not worth waiting for a log that cannot be written."""
        try:
            await self.env.store.append(facts, self.controller.holder, [self.controller])
        except StoreUnavailable as problem:
            self.ledger.tell(f"the log cannot be written: {problem}")

    async def check_main(self, step: CheckMain) -> None:
        """Find out how checks end on main, for the tasks that are to start on top of it."""
        main = await self.main.see()
        listed = ", ".join(f"`{command}`" for command in (*step.commands, *step.promised))
        self.ledger.tell(f"trying {listed} on {main.branch} at {main.commit[:12]} before agents start")
        trial = Trial(
            main,
            step.timeout_seconds,
            self.environment,
            inputs=all_inputs(task.spec for task in self.ledger.state.tasks.values()),
            look_up=partial(known_check, self.ledger.state),
            has_passed=partial(has_passed, self.ledger.state),
            variables=variables(step.leased),
        )
        found = await tried_on_main(self.env, trial, step.commands, step.promised)
        await self.note([*found, *judgement(self.ledger.state, main, found)])

    async def find_culprit(self, step: FindCulprit) -> None:
        """Find the commit that made main red, and put its revert into the train where that is wanted."""
        self.ledger.tell(f"searching for the commit since which `{step.command}` fails on main")
        await self.note(await culprit_facts(self.env, self.ledger.state, step, self.controller.holder))

    @property
    def environment(self) -> str:
        """Digest of what decides the result of a check besides the tree; empty: main is not checked first."""
        return self.ledger.state.run.environment if self.ledger.state.run else ""
