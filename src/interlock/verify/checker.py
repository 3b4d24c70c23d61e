"""Checks on this machine: a clean checkout, the commands in it one after the other, their output kept."""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import CheckResult
from interlock.model.process import Command, Ended, Exit, Processes, inherit
from interlock.model.task import Tree
from interlock.verify.protocol import CheckOrder

TIMED_OUT = 124
"""What `timeout` exits with, so that people know it."""


class LocalChecker:
    """Runs checks on this machine, contained and limited as agents are."""

    def __init__(
        self,
        check_out: Callable[[Tree], Awaitable[Path]],
        processes: Processes,
        state_dir: Path,
        pass_env: tuple[str, ...] = (),
    ) -> None:
        self._check_out = check_out
        self._processes = processes
        self._state_dir = state_dir
        self._pass_env = pass_env

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        """All commands in order, in one fresh checkout, also after a red one."""
        directory = await self._check_out(order.tree)
        return [
            await self._run(order, command, directory, f"evidence/{order.name}/{number}.log")
            for number, command in enumerate(order.commands, start=1)
        ]

    async def _run(self, order: CheckOrder, command: str, directory: Path, log: str) -> CheckResult:
        path = self._state_dir / log
        _begin(path, f"# interlock: tree {order.tree}: {command}\n")
        exited = await self._processes.run(
            Command(
                argv=("/bin/sh", "-c", command),
                directory=str(directory),
                log=str(path),
                env={**inherit(os.environ, self._pass_env), **order.env},
                timeout_seconds=order.timeout_seconds,
                name=log,
            )
        )
        return CheckResult(
            command,
            _status(exited),
            exited.seconds,
            exited.tail,
            log,
            timed_out=exited.ended is Ended.TIMEOUT,
        )


def _begin(path: Path, header: str) -> None:
    """Evidence is added to, never written over: the same check may run again after a crash."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(header)
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {path}: {error.strerror}") from error


def _status(exited: Exit) -> int:
    """A command that had to be stopped is never green, whatever it answered to being stopped."""
    if exited.ended is Ended.TIMEOUT:
        return TIMED_OUT
    return exited.code if exited.ended is Ended.EXITED else exited.code or 1
