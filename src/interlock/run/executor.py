"""Attempts on this machine: a workspace, the agent in it, and what it made brought home.

1. Whatever the agent did, its workspace is collected before it is given up. If collecting fails, it is kept.
2. Agents get a short list of the host's environment (`model.process.INHERITED`), never all of it: keys and
   tokens reach an agent only by name, through its own `env` or `pass_env`.
3. An attempt that was recovered never starts any more, whoever asks. `recover` leaves its mark and then looks
   for a workspace; `carry_out` makes the workspace and then looks for the mark: one of them sees the other.
"""

import asyncio
import contextlib
import functools
import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic

from interlock.model.errors import EnvironmentProblem, InterlockError, RejectedObjects, StaleEpoch, UserError
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.process import Command, Processes, inherit
from interlock.model.task import TaskId
from interlock.run.outcome import how_it_went, kept, not_run, noted, say, with_work
from interlock.run.output import shown
from interlock.run.supervised import lease_clock
from interlock.run.workspaces import Collected, W, Workspaces

PROMPT = "prompt.md"
PID_FILE = "supervisor.pid"
PATIENCE_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, *(30.0,) * 18)
"""Between tries to import what an agent made: some ten minutes for a person to make room."""


async def _nobody_asks() -> None:
    pass


class LocalExecutor(Generic[W]):
    """Carries attempts out on this machine."""

    def __init__(
        self,
        workspaces: Workspaces[W],
        processes: Processes,
        state_dir: Path,
        pass_env: tuple[str, ...] = (),
        tell: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._tell = tell
        self._workspaces = workspaces
        self._processes = processes
        self._state_dir = state_dir
        self._pass_env = pass_env
        self._lease_ends: dict[str, float] = {}
        """By attempt, on the lease clock: a lease goes on while the workspace is made."""
        self._last_lines: dict[str, str] = {}

    async def carry_out(self, order: Order, exited: Callable[[], Awaitable[None]] = _nobody_asks) -> Report:
        """Workspace, agent, import, in that order. What a cancelled one wrote is archived by `recover`."""
        name = _name(order.task, order.attempt)
        passed = asyncio.get_running_loop().time() - order.given_at
        self._lease_ends[name] = lease_clock() + order.lease_seconds - passed
        try:
            workspace = await self._workspaces.open(order.task, order.attempt, order.base)
            report = await self._work(order, workspace)
            await exited()
            return await self._bring_home(report, workspace)
        except (UserError, OSError) as problem:
            return Report(order.task, order.attempt, order.base, ErrorClass.OUTSIDE, say(problem))
        finally:
            self._lease_ends.pop(name, None)
            self._last_lines.pop(name, None)

    def extend(self, task: TaskId, attempt: int, seconds: float) -> None:
        """The claim was renewed: it ends this long from now."""
        name = _name(task, attempt)
        if name in self._lease_ends:
            self._lease_ends[name] = lease_clock() + seconds
            self._processes.extend(name, seconds)

    async def recover(self, task: TaskId, attempt: int) -> str:
        """End what a lost attempt left running here and archive what it wrote; the ref, or ''."""
        self._give_up(task, attempt)
        workspace = await self._workspaces.find(task, attempt)
        if workspace is None:
            return ""
        await self._processes.end_survivors(str(workspace.home / PID_FILE))
        try:
            collected = await self._workspaces.collect(workspace, f"{_name(task, attempt)}, recovered")
        except RejectedObjects:
            # It would be refused for ever. What it holds is kept, and the task goes on without it.
            await self._set_aside(workspace)
            return ""
        await self._set_aside(workspace)
        return collected.ref

    async def _set_aside(self, workspace: W) -> Path:
        """Give the workspace up; where what is left of it can be found."""
        try:
            return await self._workspaces.discard(workspace) or workspace.home
        except (InterlockError, OSError):
            # A directory that stays where it is is a matter for `gc`.
            return workspace.home

    def last_line(self, task: TaskId, attempt: int) -> str:
        """What the agent said last, as one short line that is safe to show; '' if it does not run."""
        return shown(self._last_lines.get(_name(task, attempt), ""))

    def _listen(self, name: str, line: str) -> None:
        if line.strip():
            self._last_lines[name] = line

    def _give_up(self, task: TaskId, attempt: int) -> None:
        mark = self._mark(task, attempt)
        try:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error

    def _mark(self, task: TaskId, attempt: int) -> Path:
        return self._state_dir / "given-up" / task / str(attempt)

    def _forget_given_up(self, task: TaskId, attempt: int) -> None:
        """An attempt was brought home: whoever still knew of the ones before it has long been replaced."""
        marks = self._mark(task, attempt).parent
        with contextlib.suppress(OSError):
            for mark in marks.iterdir():
                if int(mark.name) < attempt:
                    mark.unlink()
            marks.rmdir()

    async def _work(self, order: Order, workspace: W) -> Report:
        """Run the agent, and say how it went as seen from outside."""
        report = Report(order.task, order.attempt, order.base, log=f"logs/{order.task}/{order.attempt}.log")
        try:
            command = self._command(order, workspace, self._state_dir / report.log)
            listen = functools.partial(self._listen, command.name)
            return how_it_went(report, order, await self._processes.run(command, listen))
        except UserError as problem:
            return not_run(report, order, problem)

    def _command(self, order: Order, workspace: W, log: Path) -> Command:
        prompt = workspace.home / PROMPT
        try:
            prompt.write_text(order.prompt, encoding="utf-8")
            log.parent.mkdir(parents=True, exist_ok=True)
            log.with_suffix(".prompt.md").write_text(order.prompt, encoding="utf-8")
            with log.open("a", encoding="utf-8") as file:
                file.write(
                    f"# interlock: task {order.task}, attempt {order.attempt}, base {order.base}: "
                    f"{shlex.join(order.argv)}\n"
                )
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error
        return Command(
            argv=order.argv,
            directory=str(workspace.path),
            log=str(log),
            env=self._environment(order, prompt),
            timeout_seconds=order.timeout_seconds,
            idle_seconds=order.idle_seconds,
            lease_seconds=self._lease_left(order),
            name=_name(order.task, order.attempt),
            pid_file=str(workspace.home / PID_FILE),
        )

    def _environment(self, order: Order, prompt: Path) -> dict[str, str]:
        return {
            **inherit(os.environ, self._pass_env),
            **order.env,
            "INTERLOCK_PROMPT_FILE": str(prompt),
            "INTERLOCK_TASK_ID": order.task,
            "INTERLOCK_ATTEMPT": str(order.attempt),
        }

    def _lease_left(self, order: Order) -> float:
        left = self._lease_ends[_name(order.task, order.attempt)] - lease_clock()
        if self._mark(order.task, order.attempt).exists():
            raise StaleEpoch(f"{_name(order.task, order.attempt)} was given up before the agent started")
        if left <= 0:
            raise StaleEpoch(
                f"{_name(order.task, order.attempt)}: its lease was over before the agent started"
            )
        return left

    async def _collect(self, workspace: W, message: str) -> Collected:
        """Import; while the disk is full or read-only, wait for it: the work is done and paid for."""
        for seconds in PATIENCE_SECONDS:
            try:
                return await self._workspaces.collect(workspace, message)
            except EnvironmentProblem as problem:
                self._tell(f"{message}: its work cannot be imported yet: {problem}; again in {seconds:g} s")
                await asyncio.sleep(seconds)
        return await self._workspaces.collect(workspace, message)

    async def _bring_home(self, report: Report, workspace: W) -> Report:
        """Import what the agent made, and only then give its directory up."""
        try:
            collected = await self._collect(workspace, _name(report.task, report.attempt))
        except (InterlockError, OSError) as problem:
            # OSError too: the agent can reach these files, and what it broke must not break the loop.
            return kept(report, problem, str(await self._set_aside(workspace)))
        self._forget_given_up(report.task, report.attempt)
        report = with_work(report, collected)
        try:
            await self._workspaces.discard(workspace)
        except (InterlockError, OSError) as problem:
            # What it held is safe in the repository; a directory that stays is a matter for `gc`.
            return noted(report, f"its workspace {workspace.path} could not be removed: {problem}")
        return report


def _name(task: TaskId, attempt: int) -> str:
    return f"{task}, attempt {attempt}"
