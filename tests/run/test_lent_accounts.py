"""An account that is lent to an agent is gone when its attempt has ended, however it ended (D11)."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.place import Place
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import ErrorClass, Order
from interlock.model.task import Agent, AttemptKey, Commit, TaskId
from interlock.process import LocalProcesses
from interlock.run import LocalExecutor
from interlock.run.homes import Homes
from interlock.sandbox.confinement import Unconfined
from tests.run.desk import git
from tests.run.network import ALONE
from tests.run.tree import linux, marked

pytestmark = [linux, pytest.mark.slow]
TASK = TaskId("a")


class Desk:
    """A user with an account, and a program by the name of codex that does what it is told."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        self.seen = folder / "seen"
        self.place: Place = asyncio.run(discover(folder))
        self._folder = folder
        (self.user / ".codex").mkdir(parents=True)
        (self.user / ".codex/auth.json").write_text("account\n")

    def codex(self, script: str) -> Order:
        """An attempt of a program that looks at its account first."""
        program = self._folder / "bin/codex"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ncat $CODEX_HOME/auth.json > {self.seen}\n{script}\n")
        program.chmod(0o755)
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        agent = Agent("mine", "codex", login=True, env={"PATH": path})
        base = Commit(git(self._folder, "rev-parse", "HEAD"))
        return Order(TASK, 1, 1, base, agent, "p", "s", 60.0, 0.0)

    @property
    def executor(self) -> LocalExecutor:
        # Not in a sandbox: the program shows by a trace outside of it that it had the account.
        processes = LocalProcesses(grace_seconds=0.3, choose=Unconfined)
        return LocalExecutor(GitWorkspaces(self.place), processes, self.place.state, ALONE)

    def copies(self) -> list[str]:
        folder = self.place.state / "homes"
        return [path.name for path in folder.rglob("*") if path.name in ("auth.json", "1.lent")]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    made = Desk(tmp_path)
    monkeypatch.setenv("HOME", str(made.user))
    return made


def test_an_attempt_that_failed_keeps_its_home_without_the_account(desk: Desk) -> None:
    report = asyncio.run(desk.executor.carry_out(desk.codex("touch $CODEX_HOME/history; exit 3")))
    assert (report.error, desk.seen.read_text()) == (ErrorClass.EXIT, "account\n")
    assert (Homes(desk.place.state).path(TASK, 1) / ".codex/history").exists()
    assert desk.copies() == []
    assert (desk.user / ".codex/auth.json").exists()


def test_an_attempt_that_was_stopped_keeps_no_account(desk: Desk, tmp_path: Path) -> None:
    here = marked(tmp_path)

    async def stop() -> None:
        running = asyncio.create_task(desk.executor.carry_out(desk.codex("echo up; sleep 600")))
        await asyncio.to_thread(here.wait_until, lambda: desk.seen.exists() and desk.seen.read_text())
        assert sorted(desk.copies()) == ["1.lent", "auth.json"]
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(stop())
    assert desk.copies() == []


def test_an_attempt_that_nobody_saw_the_end_of_keeps_no_account_either(desk: Desk) -> None:
    """The engine died when the account was lent, and the next one finds the attempt."""
    homes = Homes(desk.place.state)
    homes.lend(homes.open(TASK, 1), (".codex/auth.json",), desk.user)
    asyncio.run(desk.executor.recover(AttemptKey(TASK, 1)))
    assert desk.copies() == []
