"""A repository and an executor on it, for tests of attempts."""

import asyncio
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.git.place import Place
from interlock.git.protocol import Workspace
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import Order, Report
from interlock.model.process import Lease
from interlock.model.task import Agent, AttemptKey, Commit, TaskId
from interlock.run import LocalExecutor

TASK = TaskId("a")
FIRST = AttemptKey(TASK, 1)


@dataclass
class Desk:
    """A repository with one commit, and an executor on it."""

    folder: Path
    place: Place
    base: Commit
    workspaces: GitWorkspaces
    executor: LocalExecutor
    lease: Lease

    def git(self, *words: str) -> str:
        return git(self.folder, *words)

    def order(self, script: str, **changed: object) -> Order:
        order = Order(
            task=TASK,
            attempt=1,
            epoch=1,
            base=self.base,
            agent=Agent("scripted", "command", ("sh", "-c", script)),
            prompt="Make it so.\n",
            session="00000000-0000-0000-0000-000000000001",
            timeout_seconds=60.0,
            idle_seconds=0.0,
        )
        own = {key: changed.pop(key) for key in [*changed] if key.startswith("agent_")}
        agent = replace(order.agent, **{key.removeprefix("agent_"): value for key, value in own.items()})  # type: ignore[arg-type] # as below
        return replace(order, agent=agent, **changed)  # type: ignore[arg-type]  # each test names its own fields

    def carry_out(self, script: str, **changed: object) -> Report:
        return asyncio.run(self.executor.carry_out(self.order(script, **changed)))

    def recovered_after(self, script: str) -> str:
        """The engine dies when the agent has run, and the next one recovers the attempt."""

        workspace = asyncio.run(self.workspaces.open(TASK, 1, self.base))
        subprocess.run(["sh", "-c", script], cwd=workspace.path, check=True)
        return asyncio.run(self.executor.recover(FIRST))

    def evidence(self) -> Path:
        (left,) = self.workspaces.listing()
        assert left.state == "evidence"
        return left.path

    def left(self) -> Workspace | None:
        return asyncio.run(self.workspaces.find(TASK, 1))


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *identity, "-C", str(folder), *words], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()
