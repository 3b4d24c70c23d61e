"""What one controller has under way, and how it is stopped, kept alive and forgotten.

Rules:
1. One act a task at the most. The claim is written before its act begins.
2. An act is forgotten only when the log was read after its end: until then the log shows less than is true.
3. An act that fails unexpectedly stays under way for a while, so that the loop does not spin on it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.engine.mainline import Mainline
from interlock.engine.options import Options
from interlock.engine.perform import Performer, said
from interlock.events.asked import ScopeRequest
from interlock.events.facts import MessageDelivered
from interlock.events.lifecycle import Stage
from interlock.model.claim import Claim
from interlock.model.errors import Fenced, StaleEpoch, StoreUnavailable
from interlock.model.pace import check_words
from interlock.model.step import PROJECT, Archive, CheckMain, GiveUp, Reconcile, Recover, Start, Step
from interlock.model.task import PhaseKind, TaskId
from interlock.train import is_forsaken, retry

HEARTBEAT_SECONDS = 10.0


@dataclass(slots=True)
class Act:
    """Something under way about a task."""

    task: asyncio.Task[None]
    claim: Claim | None
    attempt: int
    can_stop: bool
    heard: set[int] | None = None
    """What people said that its agent knows, by position in the log; None: it has no agent."""
    answered: set[int] = field(default_factory=set)
    """Requests for scope whose answer was passed on, by position in the log."""


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
        self._stale_seconds = options.stale_seconds
        self._done = done
        self._lease_ends = 0.0
        self._performer = Performer(env, ledger, main, claim, options.stale_seconds, self._lease_left)
        self.under_way: dict[TaskId, Act] = {}
        self._troubles: dict[TaskId, int] = {}
        """The number of unexpected failures in a row, for each task."""
        self._fenced: Fenced | None = None
        self._ended: list[TaskId] = []
        """Acts that are over, but whose last facts may not have been read yet."""

    async def begin_all(self, steps: Sequence[Step]) -> None:
        """Set these going, in their order. All starts are claimed before this returns, at one time."""
        begun = await asyncio.gather(*map(self._begin, steps), return_exceptions=True)
        for problem in begun:
            if problem is not None:
                raise problem

    async def _begin(self, step: Step) -> None:
        match step:
            case Start():
                await self._start(step)
            case CheckMain():
                self._go(PROJECT, self._performer.check_main(step), 0, can_stop=True)
            case Recover():
                self._go(step.task, self._performer.recover(step), step.attempt)
            case Archive():
                self._go(step.task, self._performer.end_and_archive(step), step.attempt)
            case Reconcile():
                self._go(step.task, self._performer.reconcile(step), 0)
            case GiveUp():
                self._go(step.task, self._performer.give_up(step), 0)

    async def catch_up(self) -> None:
        """Read what is new; acts that ended before that are forgotten, because now the log shows it.

        `Fenced` if one of them found that nothing of this controller can land any more.
        """
        if self._fenced:
            raise self._fenced
        ended, self._ended = self._ended, []
        try:
            await self._ledger.catch_up()
        except StoreUnavailable:
            self._ended += ended
            raise
        for name in ended:
            del self.under_way[name]

    def end_unwanted(self) -> None:
        """Stop what a person took away and checks that are worthless now; all, if the run is told to."""
        state = self._ledger.state
        stop_all = state.run is not None and state.run.stop_agents
        for name, act in self.under_way.items():
            if name == PROJECT:  # what it finds out is of use only to starts
                is_unwanted = state.run is not None and state.run.stopping
            else:
                is_unwanted = self._is_taken_away(name, act) or is_forsaken(state, name)
            if stop_all or is_unwanted:
                _stop(act)

    def deliver(self) -> list[MessageDelivered]:
        """Pass on what people said after an agent had started; which of it was taken.

        What an agent does not take now, because it is still starting or never does, is offered again.
        """
        taken = []
        for name, act in self.under_way.items():
            if act.heard is None:
                continue
            for message in self._ledger.state.tasks[name].said:
                if message.seq in act.heard or not self._env.executor.say(name, act.attempt, message.text):
                    continue
                act.heard.add(message.seq)
                taken.append(MessageDelivered(name, act.attempt, message.seq))
        return taken

    def answer(self) -> None:
        """Pass on what people answered to agents that asked; a question that is closed hears nothing."""
        for name, act in self.under_way.items():
            for asked in self._ledger.state.tasks[name].permissions if act.heard is not None else ():
                if asked.attempt == act.attempt and asked.allow is not None:
                    self._env.executor.answer(name, act.attempt, asked.call, asked.allow)

    def requests(self) -> list[tuple[TaskId, ScopeRequest]]:
        """What agents that are at work here want to edit and have no answer to."""
        return [
            (name, asked)
            for name, act in self.under_way.items()
            if act.heard is not None
            for asked in self._ledger.state.tasks[name].requests
            if asked.attempt == act.attempt and not asked.is_answered
        ]

    def widen(self) -> None:
        """Pass on what they were told; an agent that takes no messages reads it in its next prompt."""
        for name, act in self.under_way.items():
            for asked in self._ledger.state.tasks[name].requests if act.heard is not None else ():
                is_new = asked.attempt == act.attempt and asked.seq not in act.answered
                if is_new and asked.granted is not None:
                    act.answered.add(asked.seq)
                    self._env.executor.widen(name, act.attempt, asked.paths, asked.granted, asked.answer)

    def stop_all(self) -> None:
        """Stop all agents and checks now, whatever the log says or cannot say."""
        for act in self.under_way.values():
            _stop(act)

    def _is_taken_away(self, name: TaskId, act: Act) -> bool:
        if act.claim is None:
            return False
        task = self._ledger.state.tasks[name]
        # Until its PhaseStarted is folded the task looks older than the act.
        return task.epoch >= act.claim.epoch and (
            task.stage is not Stage.RUNNING or task.epoch > act.claim.epoch
        )

    def extend(self, seconds: float) -> None:
        """The controller's lease was renewed: its agents may live on."""
        self._lease_ends = asyncio.get_running_loop().time() + seconds
        self._env.checker.extend(seconds)
        for name, act in self.under_way.items():
            if act.claim is not None:
                self._env.executor.extend(name, act.attempt, seconds)

    async def renew(self) -> None:
        """Heartbeats, for ever, of the tasks under way."""
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, self._stale_seconds / 4))
            for name, act in list(self.under_way.items()):
                if act.claim is not None:
                    try:
                        line = self._env.executor.last_line(name, act.attempt) or self._check_line(name)
                        await self._env.store.renew(act.claim, self._stale_seconds, line)
                    except StoreUnavailable:
                        continue  # it comes round again; the epoch protects the task, not the lease

    def _check_line(self, name: TaskId) -> str:
        """The check of a task that runs now, in words."""
        now = asyncio.get_running_loop().time()
        for check in self._env.checker.running():
            if check.name.startswith(f"{name}/"):
                return check_words(check.command, now - check.since, check.pace)
        return ""

    def _go(
        self,
        name: TaskId,
        act: Coroutine[Any, Any, None],
        attempt: int,
        claim: Claim | None = None,
        can_stop: bool = False,
    ) -> None:
        task = asyncio.create_task(self._see_through(name, act))
        # A task that is cancelled before its first step never awaits its act.
        task.add_done_callback(lambda _: act.close())
        self.under_way[name] = Act(task, claim, attempt, can_stop)

    async def _see_through(self, name: TaskId, act: Coroutine[Any, Any, None]) -> None:
        try:
            await act
            self._troubles.pop(name, None)
        except Fenced as problem:
            self._fenced = problem  # its log may be another one than ours, which then says nothing of it
        except StaleEpoch:
            pass  # taken from us; the log says by whom, and the loop reads it
        except Exception as problem:  # noqa: BLE001 - the loop must survive whatever one task brings up
            times = self._troubles[name] = self._troubles.get(name, 0) + 1
            delay = retry.trouble_delay(times)
            self._ledger.tell(f"{name}: {said(problem)}; looking again in {delay:.0f} s")
            await asyncio.sleep(delay)  # still under way, so that the loop does not spin on it
        finally:
            self._ended.append(name)
            self._done()

    async def _start(self, step: Start) -> None:
        if turn := await self._performer.claim(step):
            # A landing is never stopped: between moving main and saying so there must be nothing.
            can_stop = turn.task.phase.kind is not PhaseKind.LAND
            self._go(step.task, self._performer.perform(turn), step.attempt, turn.claim, can_stop)
            if turn.task.phase.kind is PhaseKind.AGENT:
                self.under_way[step.task].heard = {message.seq for message in turn.task.said}

    def _lease_left(self) -> float:
        return self._lease_ends - asyncio.get_running_loop().time()


def _stop(act: Act) -> None:
    if act.can_stop:
        act.can_stop = False
        act.task.cancel()
