"""Carries out attempts on this machine: opens a workspace, runs the agent in it, and imports the result.

1. Whatever the agent did, its workspace is collected before it is given up. If collecting fails, it is kept.
2. Agents get a short list of the host's environment (`model.process.INHERITED`), never all of it: keys and
   tokens reach an agent only by name, through its own `env` or `pass_env`.
3. An attempt that was recovered never starts any more. `recover` leaves its mark and then looks
   for a workspace; `carry_out` makes the workspace and then looks for the mark: one of them sees the other.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from interlock.git.protocol import Collected, Workspace
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import EnvironmentProblem, InterlockError, RejectedObjects, StaleEpoch, UserError
from interlock.model.failure_words import failure_text
from interlock.model.outcome import AttemptCallbacks, ErrorClass, Order, Report
from interlock.model.process import Processes
from interlock.model.reason import Reason, Why
from interlock.model.session import SessionNotes
from interlock.model.shown import shown
from interlock.model.task import AttemptKey, Commit, Tree
from interlock.model.usage import Usage
from interlock.run.conversation import Conversation
from interlock.run.homes import Homes
from interlock.run.launch_context import PID_FILE
from interlock.run.notes import spent
from interlock.run.options import ExecutorOptions
from interlock.run.outcome import kept, not_run, noted, outside_if_disk_full, say, with_work
from interlock.run.session_driver import SessionDriver
from interlock.run.teardown import Teardown
from interlock.train import retry
from interlock.train.sessions import afresh


class RecoveredAttempts:
    """Marks on attempts that were recovered: they never start any more.

    The marks are files below a state folder, so that other processes see them too.
    """

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "given-up"

    def add(self, key: AttemptKey) -> None:
        mark = self._mark(key)
        try:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error

    def has(self, key: AttemptKey) -> bool:
        return self._mark(key).exists()

    def forget_before(self, key: AttemptKey) -> None:
        """Forget the marks before an attempt that was brought home: those that knew of them were replaced."""
        marks = self._mark(key).parent
        with contextlib.suppress(OSError):
            for mark in marks.iterdir():
                if int(mark.name) < key.attempt:
                    mark.unlink()
            marks.rmdir()

    def _mark(self, key: AttemptKey) -> Path:
        return self._folder / key.task / str(key.attempt)


async def _ignore(*_: object) -> None:
    pass


NO_NEWS = AttemptCallbacks(opened=_ignore, exited=_ignore, asked=_ignore, scope=_ignore, proposed=_ignore)


class LocalExecutor:
    """Carries attempts out on this machine."""

    def __init__(
        self,
        workspaces: GitWorkspaces,
        processes: Processes,
        state_dir: Path,
        options: ExecutorOptions,
    ) -> None:
        self._options = options
        self._workspaces = workspaces
        self._processes = processes
        self._state_dir = state_dir
        self._homes = Homes(state_dir)
        self._recovered = RecoveredAttempts(state_dir)
        self._driver = SessionDriver(self._options.hooks, state_dir, self._options.clean)
        self._teardown = Teardown(processes, options, state_dir)
        self._talks: dict[AttemptKey, Conversation] = {}

    async def carry_out(self, order: Order, news: AttemptCallbacks = NO_NEWS) -> Report:
        start = order.resume.start if order.resume else order.start or ""
        try:
            workspace = await self._workspaces.open(order.task, order.attempt, order.base, start)
            report = await self._work(_continued(order), workspace, news)
            if again := afresh(order, report.error, has_begun=self._talks[order.key].has_begun):
                self._options.tell(f"{order.task}: cannot resume its session; starting a new one")
                report = await self._work(again, workspace, news)
                report = replace(report, usage=self.spent(order.key) or report.usage)
            report = outside_if_disk_full(report, workspace.home)
            await news.exited()
            report = await self._bring_home(report, workspace, order)
        except (UserError, OSError) as problem:
            report = Report(order.task, order.attempt, order.base, ErrorClass.OUTSIDE, say(problem))
        finally:
            self._talks.pop(order.key, None)
        await self._driver.close(report)
        return report

    def last_line(self, key: AttemptKey) -> str:
        talk = self._talks.get(key)
        return shown(talk.last_line) if talk else ""

    def say(self, key: AttemptKey, text: str) -> bool:
        talk = self._talks.get(key)
        return talk is not None and talk.say(text)

    def answer(self, key: AttemptKey, call: str, allow: bool) -> bool:
        talk = self._talks.get(key)
        return talk is not None and talk.answer(call, allow)

    def widen(self, key: AttemptKey, paths: tuple[str, ...], granted: bool, why: str) -> bool:
        talk = self._talks.get(key)
        return talk is not None and talk.widen(paths, granted, why)

    def notes(self, key: AttemptKey) -> SessionNotes | None:
        return self._driver.notes(key.task, key.attempt)

    def spent(self, key: AttemptKey) -> Usage | None:
        return spent(self._state_dir, key.task, key.attempt)

    async def recover(self, key: AttemptKey, why: str = "lost") -> str:
        try:
            ref = await self._end_and_archive(key)
        finally:
            await asyncio.to_thread(self._homes.take_back, key.task, key.attempt)
        await self._driver.close_lost(key.task, key.attempt, why, ref)
        return ref

    async def _end_and_archive(self, key: AttemptKey) -> str:
        self._recovered.add(key)
        workspace = await self._workspaces.find(key.task, key.attempt)
        if workspace is None:
            return ""
        await self._processes.end_survivors(str(workspace.home / PID_FILE))
        try:
            collected = await self._workspaces.collect(workspace, f"{key}, recovered")
        except RejectedObjects:
            # It would be refused for ever. What it holds is kept, and the task goes on without it.
            await self._set_aside(workspace)
            return ""
        await self._tear_down_late(workspace, collected.commit)
        await self._set_aside(workspace)
        return collected.ref

    async def _tear_down_late(self, workspace: Workspace, commit: Commit) -> None:
        """Tear down an attempt whose process is dead, in a new room with its files: its own layers went with
        that process. A failure is only said: the work is imported."""
        if not self._options.teardown():
            return
        room = self._state_dir / "teardown" / workspace.task / str(workspace.attempt)
        try:
            await self._workspaces.clear(room)  # a crash may have left it
            seen = await self._workspaces.check_out(Tree(f"{commit}^{{tree}}"), room)
            there = replace(workspace, path=seen.path, grant=seen.grant)
            failures = [failure_text(each) for each in await self._teardown.run(there, {})]
        except (InterlockError, OSError) as problem:
            failures = [f"its teardown could not run: {problem}"]
        finally:
            await self._workspaces.clear(room)
        for failure in failures:
            self._options.tell(f"{workspace.task}: {failure}")

    async def _work(self, order: Order, workspace: Workspace, news: AttemptCallbacks) -> Report:
        """Run the agent, and say how it went as seen from outside."""
        report = Report(
            order.task,
            order.attempt,
            order.base,
            log=f"logs/{order.task}/{order.attempt}.log",
            session=order.session,
        )
        log = self._state_dir / report.log
        talk = Conversation(order, self._processes, self._options, self._homes, log)
        hooks = self._driver.greet(order, workspace.path, workspace.written)
        self._talks[order.key] = talk
        try:
            return await talk.hold(report, workspace, lambda: self._about_to_start(order), news, hooks)
        except UserError as problem:
            return not_run(report, order, problem)

    def _about_to_start(self, order: Order) -> float:
        """Refuse a recovered attempt right before the agent starts; return the rest of the lease."""
        if self._recovered.has(order.key):
            raise StaleEpoch(f"{order.key} was given up before the agent started")
        return self._processes.lease.left(str(order.key))

    async def _bring_home(self, report: Report, workspace: Workspace, order: Order) -> Report:
        """Import what the agent made, and only then give its directory up."""
        try:
            collected = await _collect(
                self._workspaces, workspace, str(AttemptKey(report.task, report.attempt)), self._options.tell
            )
        except (InterlockError, OSError) as problem:
            # OSError too: the agent can reach these files, and what it broke must not break the loop.
            return kept(report, problem, str(await self._set_aside(workspace)))
        self._recovered.forget_before(AttemptKey(report.task, report.attempt))
        report = with_work(report, collected)
        for failure in await self._teardown.run(workspace, order.variables):
            report = noted(report, failure)
        if report.error is None and not report.asks:
            await asyncio.to_thread(self._homes.forget, report.task, report.attempt)
        try:
            await self._workspaces.discard(workspace)
        except (InterlockError, OSError) as problem:
            # Its content is safe in the repository; a directory that stays is a matter for `gc`.
            left = {"path": str(workspace.home), "text": str(problem)}
            return noted(report, Reason(Why.NOT_REMOVED, left))
        return report

    async def _set_aside(self, workspace: Workspace) -> Path:
        """Give the workspace up; return the path of what is left of it."""
        try:
            return await self._workspaces.discard(workspace) or workspace.home
        except (InterlockError, OSError):
            # A directory that stays where it is is a matter for `gc`.
            return workspace.home


def _continued(order: Order) -> Order:
    """Return the order under the name of the session that it goes on with."""
    return replace(order, session=order.resume.session) if order.resume else order


async def _collect(
    workspaces: GitWorkspaces, workspace: Workspace, message: str, tell: Callable[[str], None]
) -> Collected:
    """Import; while the disk is full or read-only, wait for it: the work is done and paid for."""
    for seconds in retry.import_pauses():
        try:
            return await workspaces.collect(workspace, message)
        except EnvironmentProblem as problem:
            tell(f"{message}: cannot import its work yet: {problem}; retrying in {seconds:g} s")
            await asyncio.sleep(seconds)
    return await workspaces.collect(workspace, message)
