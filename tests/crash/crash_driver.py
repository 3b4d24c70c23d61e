"""A whole run in a process of its own, killed with SIGKILL at one boundary.

    python crash_driver.py REPOSITORY [HAND.METHOD:NUMBER:before|after]

Every hand is the real one; a thin shell counts its calls. Without a boundary it runs to the end. It prints
the calls it saw, so that a test can tell a boundary that was never reached from one that was.
"""

import asyncio
import inspect
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from interlock.engine.engine import Engine
from interlock.engine.options import Options
from interlock.engine.project import open_project
from interlock.run.executor import LocalExecutor
from tests.run.network import ALONE


class Kill:
    """Counts calls and ends this process, as a power cut would, at the chosen one."""

    def __init__(self, boundary: str) -> None:
        self.boundary = boundary
        self.seen: dict[str, int] = {}

    def around(self, hand: Any, name: str) -> Any:  # Any: any hand; the shell has the same methods
        return _Shell(self, hand, name)

    def count(self, call: str) -> int:
        self.seen[call] = self.seen.get(call, 0) + 1
        return self.seen[call]

    def passing(self, call: str, number: int, side: str) -> None:
        if self.boundary == f"{call}:{number}:{side}":
            os.kill(os.getpid(), signal.SIGKILL)


class _Shell:
    def __init__(self, kill: Kill, hand: Any, name: str) -> None:
        self._kill, self._hand, self._name = kill, hand, name

    def __getattr__(self, method: str) -> Any:
        inner = getattr(self._hand, method)
        if not inspect.iscoroutinefunction(inner):
            return inner
        call = f"{self._name}.{method}"

        async def outer(*args: Any, **kwargs: Any) -> Any:
            number = self._kill.count(call)
            self._kill.passing(call, number, "before")
            try:
                return await inner(*args, **kwargs)
            finally:
                self._kill.passing(call, number, "after")

        return outer


async def main(root: Path, boundary: str) -> None:
    kill = Kill(boundary)
    async with open_project(root) as project:
        await project.accept_graph()
        env = project.env()
        workspaces = kill.around(project.workspaces, "workspaces")
        env = replace(
            env,
            store=kill.around(env.store, "store"),
            repository=kill.around(env.repository, "repository"),
            executor=kill.around(
                LocalExecutor(workspaces, project.processes, project.state_dir, ALONE), "executor"
            ),
            checker=kill.around(env.checker, "checker"),
        )
        await Engine(env, Options(environment="this machine", max_parallel=2, fetch_seconds=0)).run()
    sys.stdout.write(" ".join(f"{call}={count}" for call, count in sorted(kill.seen.items())))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
