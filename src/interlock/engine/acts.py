"""Carries out the steps of one controller as acts, and keeps their claims alive. It decides nothing.

Rules:
1. One act a task at the most. The claim is written before its act begins.
2. An act is forgotten only when the log was read after its end: until then the log shows less than is true.
3. An act that fails unexpectedly stays under way for a while, so that the loop does not spin on it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlock.engine.builds import Builder
from interlock.engine.controller_steps import ControllerSteps
from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.engine.mainline import Mainline
from interlock.engine.options import Options
from interlock.engine.perform import Performer, said
from interlock.model.claim import Claim
from interlock.model.errors import Fenced, StaleEpoch, StoreUnavailable
from interlock.model.pace import check_words
from interlock.model.step import (
    PROJECT,
    Answer,
    Archive,
    CheckMain,
    FindCulprit,
    GiveUp,
    Reconcile,
    Recover,
    Start,
    StartBuild,
    Step,
    Stop,
    Tell,
    UnderWay,
    Widen,
    WindDown,
)
from interlock.model.task import AttemptKey, PhaseKind, TaskId
from interlock.train import retry

HEARTBEAT_SECONDS = 10.0
_NOTHING_TO_STOP = UnderWay()


@dataclass(slots=True)
class Act:
    """Something under way about a task."""

    task: asyncio.Task[None]
    claim: Claim | None
    view: UnderWay


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
        self._steps = ControllerSteps(env, ledger, main, claim)
        self._performer = Performer(env, ledger, self._steps, claim, options.stale_seconds)
        self._builder = Builder(env, ledger, self._steps, claim, options.stale_seconds)
        self._acts: dict[TaskId, Act] = {}
        self._troubles: dict[TaskId, int] = {}
        """The number of unexpected failures in a row, for each task."""
        self._fenced: Fenced | None = None
        self._ended: list[TaskId] = []
        """Acts that are over, but whose last facts may not have been read yet."""

    async def carry_out(self, steps: Sequence[Step]) -> None:
        """Set these going, in their order. All starts are claimed before this returns, at one time."""
        begun = await asyncio.gather(*map(self._begin, steps), return_exceptions=True)
        for problem in begun:
            if problem is not None:
                raise problem

    async def _begin(self, step: Step) -> None:
        match step:
            case Start():
                await self._start(step)
            case StartBuild():
                await self._start_build(step)
            case CheckMain():
                self._go(PROJECT, self._steps.check_main(step), UnderWay(can_stop=True, leased=step.leased))
            case FindCulprit():
                self._go(PROJECT, self._steps.find_culprit(step), UnderWay(can_stop=True, leased=step.leased))
            case Recover():
                self._go(step.task, self._performer.recover(step), UnderWay(step.attempt))
            case Archive():
                self._go(step.task, self._performer.end_and_archive(step), UnderWay(step.attempt))
            case Reconcile():
                self._go(step.task, self._steps.reconcile(step))
            case GiveUp():
                self._go(step.task, self._steps.give_up(step))
            case _:
                await self._reach(step)

    async def _reach(self, step: Step) -> None:
        """Carry out a step about what is under way."""
        match step:
            case Stop():
                self.stop(step)
            case Tell():
                await self._tell(step)
            case Answer():
                self._env.executor.answer(AttemptKey(step.task, step.attempt), step.call, step.allow)
            case Widen():
                await self._steps.widen(step)
            case WindDown():
                await self._steps.wind_down()

    def stop(self, step: Stop) -> None:
        """End an act."""
        act = self._acts[step.task]
        act.view = replace(act.view, can_stop=False)
        act.task.cancel()

    async def _tell(self, step: Tell) -> None:
        if self._env.executor.say(AttemptKey(step.task, step.attempt), step.text):
            act = self._acts[step.task]
            act.view = replace(act.view, told=act.view.told | {step.message})
            await self._steps.delivered(step)

    @property
    def under_way(self) -> dict[TaskId, UnderWay]:
        """The acts as decisions see them."""
        return {name: act.view for name, act in self._acts.items()}

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The acts as the event loop sees them."""
        return [act.task for act in self._acts.values()]

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
            del self._acts[name]

    async def renew(self) -> None:
        """Renew the claims of the tasks under way, until cancelled."""
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, self._stale_seconds / 4))
            for name, act in list(self._acts.items()):
                if act.claim is not None:
                    try:
                        key = AttemptKey(name, act.view.attempt)
                        line = self._env.executor.last_line(key) or self._check_line(name)
                        await self._env.store.renew(act.claim, self._stale_seconds, line)
                    except StoreUnavailable:
                        continue  # it comes round again; the epoch protects the task, not the lease

    def _check_line(self, name: TaskId) -> str:
        """The check of a task that runs now, in words."""
        now = asyncio.get_running_loop().time()
        for check in self._env.checker.running():
            if check.task == name:
                return check_words(check.command, now - check.since, check.pace)
        return ""

    def _go(
        self,
        name: TaskId,
        act: Coroutine[Any, Any, None],
        view: UnderWay = _NOTHING_TO_STOP,
        claim: Claim | None = None,
    ) -> None:
        task = asyncio.create_task(self._see_through(name, act))
        # A task that is cancelled before its first step never awaits its act.
        task.add_done_callback(lambda _: act.close())
        self._acts[name] = Act(task, claim, view)

    async def _see_through(self, name: TaskId, act: Coroutine[Any, Any, None]) -> None:
        try:
            await act
            self._troubles.pop(name, None)
        except Fenced as problem:
            self._fenced = problem  # its log may be another one than ours, which then says nothing of it
        except StaleEpoch:
            pass  # taken from us; the log names the new holder, and the loop reads it
        except Exception as problem:  # noqa: BLE001 - the loop must survive any error of one task
            times = self._troubles[name] = self._troubles.get(name, 0) + 1
            delay = retry.trouble_delay(times)
            self._ledger.tell(f"{name}: {said(problem)}; trying again in {delay:.0f} s")
            await asyncio.sleep(delay)  # still under way, so that the loop does not spin on it
        finally:
            self._ended.append(name)
            self._done()

    async def _start(self, step: Start) -> None:
        if turn := await self._performer.claim(step):
            kind = turn.task.phase.kind
            view = UnderWay(
                step.attempt,
                turn.claim.epoch,
                # A landing is never stopped: between moving main and saying so there must be nothing.
                can_stop=kind is not PhaseKind.LAND,
                has_agent=kind is PhaseKind.AGENT,
                told=frozenset(message.seq for message in turn.task.talk.said),
                leased=step.leased,
            )
            self._go(step.task, self._performer.perform(turn), view, turn.claim)

    async def _start_build(self, step: StartBuild) -> None:
        if turn := await self._builder.claim(step):
            view = UnderWay(epoch=turn.claim.epoch, can_stop=True, is_build=True, leased=step.leased)
            self._go(step.task, self._builder.perform(turn), view, turn.claim)
