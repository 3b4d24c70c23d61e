"""Runs the graph's `teardown` after an attempt: what it started elsewhere is released.

1. It runs after the agent's work is imported: what it writes in the workspace is not part of the change. If
   the work cannot be imported, it does not run, as the workspace is then the only copy.
2. It is bounded in time, all commands together, and no failure of it changes how the attempt ended.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.git.protocol import Workspace
from interlock.model.errors import InterlockError
from interlock.model.leases import template_of
from interlock.model.process import Command, Ended, Processes, inherit
from interlock.model.reason import Reason, Why
from interlock.run.launch_context import PID_FILE, compose_project
from interlock.run.options import ExecutorOptions

TOTAL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Teardown:
    """Runs these commands on this machine."""

    processes: Processes
    options: ExecutorOptions
    state_dir: Path

    async def run(self, workspace: Workspace, variables: Mapping[str, str]) -> list[Reason]:
        """Run all commands in the workspace; return the failures. `variables`: leased values, where known.
        The databases among them are gone by now."""
        if not (commands := self.options.teardown()):
            return []
        loop, failures = asyncio.get_running_loop(), list[Reason]()
        ends = loop.time() + TOTAL_SECONDS
        async with self.options.network.to_hosts(f"teardown of {workspace.task}", ()) as way:
            values = {name: value for name, value in variables.items() if not template_of(value)}
            ready = self._command(workspace, {**way.env, **values})
            if ready.grant:
                ready = replace(ready, grant=replace(ready.grant, forwarded_ports=way.forwarded_ports))
            for command in commands:
                left = max(1.0, ends - loop.time())
                if failure := await self._run(command, replace(ready, timeout_seconds=left)):
                    failures.append(failure)
        return failures

    def _command(self, workspace: Workspace, env: Mapping[str, str]) -> Command:
        """A command that is still to be named."""
        task, attempt = workspace.task, workspace.attempt
        return Command(
            argv=(),
            directory=str(workspace.path),
            log=str(self.state_dir / "logs" / task / f"{attempt}.teardown.log"),
            env={
                **inherit(os.environ, self.options.pass_env),
                "COMPOSE_PROJECT_NAME": compose_project(workspace.home, task, attempt),
                **env,
                "INTERLOCK_TASK_ID": task,
                "INTERLOCK_ATTEMPT": str(attempt),
            },
            key=f"teardown {task} {attempt}",
            pid_file=str(workspace.home / PID_FILE),
            grant=workspace.grant,
            grace=False,
        )

    async def _run(self, command: str, ready: Command) -> Reason | None:
        try:
            lease = self.processes.lease.left(str(ready.key))
            ready = replace(ready, argv=("/bin/sh", "-c", command), lease_seconds=lease)
            exited = await self.processes.run(ready)
        except (InterlockError, OSError) as problem:
            return _failed(command, "could not run", str(problem))
        if exited.ended is Ended.EXITED and not exited.code:
            return None
        how = f"exited {exited.code}" if exited.ended is Ended.EXITED else f"was stopped ({exited.ended})"
        return _failed(command, how, (exited.tail.strip().splitlines() or [""])[-1])


def _failed(command: str, how: str, text: str) -> Reason:
    return Reason(Why.NOT_TORN_DOWN, {"command": command, "how": how, "text": text})
