"""Has a statement written about each landed commit, beside the loop and never in its way.

1. A landing is over when main has moved. Nothing of a task waits for its statement.
2. The notes say which commits have one. A run begins with those that a crash or a failure left without.
3. A failure is told once and is one fact. When it is tried again, `train/retry.py` says (rule 15). The end of
   a run waits `FINISH_SECONDS` at the most.
"""

import asyncio
from contextlib import suppress
from itertools import islice

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger, Tell
from interlock.engine.notary import Notary, told_of_all
from interlock.events.facts import Landed, LandingSeen, StatementsDelayed
from interlock.events.finished import unpacked
from interlock.events.record import Recorded
from interlock.model.claim import Claim
from interlock.model.errors import EnvironmentProblem
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Commit, TaskId
from interlock.train import retry
from interlock.train.statement import Stated

FINISH_SECONDS = 5.0
AT_ONCE = 50
"""The most statements in one commit of the notes."""


class Statements:
    """The statements of one run."""

    def __init__(self, env: Env, ledger: Ledger, tell: Tell) -> None:
        self._env = env
        self._ledger = ledger
        self._tell = tell
        self._due: dict[Commit, TaskId] = {}
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._told = ""

    def note(self, row: Recorded) -> None:
        """Take notice of a landing."""
        if row.kind in ("Landed", "LandingSeen") and isinstance(fact := row.fact, Landed | LandingSeen):
            self._due[fact.commit] = fact.task
            self._news.set()

    async def keep(self, claim: Claim) -> None:
        """Write statements until `finish`."""
        if self._env.notary:
            await self._keep(self._env.notary, claim)
        elif self._ledger.state.unstated:  # they are not wanted any more
            await self._ledger.append([StatementsDelayed(0)], claim)

    async def _keep(self, notary: Notary, claim: Claim) -> None:
        failures, knows_missed = 0, False
        while True:
            is_last = self._closing.is_set()
            self._news.clear()
            try:
                if not knows_missed:
                    self._due = {**await self._missed(notary), **self._due}
                    knows_missed = True
                await self._write(notary)
                failures = 0
                await self._all_written(notary, claim)
            except (EnvironmentProblem, OSError) as problem:
                failures += 1
                await self._delayed(said(str(problem)), claim)
            if is_last:
                return
            await self._pause(failures)

    async def _pause(self, failures: int) -> None:
        if 0 < failures < retry.STATEMENT_TRIES:
            with suppress(TimeoutError):
                async with asyncio.timeout(retry.statement_delay(failures)):
                    await self._closing.wait()
        else:
            await self._news.wait()

    async def finish(self, keeping: asyncio.Task[None], claim: Claim) -> None:
        """Write what is left at the end of a run, if that does not take long."""
        self._closing.set()
        self._news.set()
        await asyncio.wait([keeping], timeout=FINISH_SECONDS)
        if keeping.done() and (problem := keeping.exception()):
            self._tell_once(f"a defect ended the statements of this run: {problem!r}")
        elif self._due and not keeping.done():
            await self._delayed(Reason(Why.NO_RESULT, {"seconds": FINISH_SECONDS}), claim)

    async def _missed(self, notary: Notary) -> dict[Commit, TaskId]:
        """Find the commits that landed and have no statement."""
        state = self._ledger.state
        landed = {task.commit: name for name, task in state.done.packed.items() if task.commit}
        for name in state.done.recent:
            if found := state.tasks[name].change.landed:
                landed[found.commit] = name
        have = await notary.noted() if landed else ()
        return {commit: name for commit, name in landed.items() if commit not in have}

    async def _write(self, notary: Notary) -> None:
        while batch := dict(islice(self._due.items(), AT_ONCE)):
            commits = [await self._landings(notary, commit, name) for commit, name in batch.items()]
            if found := [landings for landings in commits if landings]:
                await notary.write(found)
            for commit in batch:
                self._due.pop(commit, None)

    async def _landings(self, notary: Notary, commit: Commit, name: TaskId) -> list[Stated]:
        """Return what is known of the landings that are a commit; none: the log has no test of it."""
        state, found = self._ledger.state, list[Stated]()
        for made in await told_of_all(self._env.store, name, commit):
            if state.knows(made.passed.task):
                task = state.tasks.get(made.passed.task) or unpacked(state, made.passed.task)
                found.append((made, await notary.known(made, task, state.main.branch)))
        return found

    async def _delayed(self, why: Reason, claim: Claim) -> None:
        # Notes that cannot be read do not say what is missing either.
        before, commits = self._ledger.state.unstated, max(1, len(self._due))
        if before is None or (before.commits, before.why) != (commits, why):
            await self._ledger.append([StatementsDelayed(commits, why)], claim)
        if text := why.text("text"):
            self._tell_once(f"no statement about the last landing yet: {text}; trying again")

    async def _all_written(self, notary: Notary, claim: Claim) -> None:
        if self._ledger.state.unstated:
            await self._ledger.append([StatementsDelayed(0)], claim)
        text = await notary.push()
        self._tell_once(
            f"the statements are not pushed ({text}); the next landing tries again" if text else ""
        )

    def _tell_once(self, text: str) -> None:
        if text and text != self._told:
            self._tell(f"warning: {text}")
        self._told = text
