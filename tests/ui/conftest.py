"""A repository with a log, and the command line as people start it."""

import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.events.facts import (
    CandidatePassed,
    Fact,
    Landed,
    PhaseFailed,
    PhaseStarted,
    TaskAccepted,
    TaskFailed,
    WorkFinished,
)
from interlock.events.record import Recorded
from interlock.model.claim import CONTROLLER, Claim, task_resource
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.store import Store, open_store
from interlock.ui.cli import main
from tests import warm

REMOVED = ("NO_COLOR", "FORCE_COLOR", "CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "INTERLOCK_DEBUG")
GIT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
RED = CheckResult("make test", 2, 1.5, log="logs/checks/2.log")


@dataclass(frozen=True, slots=True)
class Result:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: whatever the command printed
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:  # Any: one value per line of NDJSON
        return [json.loads(line) for line in self.out.splitlines()]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | GIT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def task(name: str, *needs: str, **more: Any) -> Task:  # Any: the fields of Task
    agent = Agent("coder", "command", ("./agent.sh",))
    return Task(TaskId(name), f"Make {name}", agent, tuple(map(TaskId, needs)), **more)


@dataclass(slots=True)
class Lab:
    """One project, its log written by hand."""

    root: Path
    capsys: pytest.CaptureFixture[str]
    holders: dict[str, Claim] = field(default_factory=dict)

    @property
    def log(self) -> str:
        return str(self.root / ".git/interlock" / "log.db")

    def run(self, *words: str) -> Result:
        """The command in this process: fast, and the same `main`."""
        self.capsys.readouterr()
        code = main(["--project", str(self.root), *words])
        captured = self.capsys.readouterr()
        return Result(code, captured.out, captured.err)

    def write(self, *facts: Fact) -> list[Recorded]:
        """Put facts into the log."""
        return asyncio.run(self._write(facts))

    def accept(self, *tasks: Task) -> None:
        """Put tasks into the plan."""
        self.write(*(TaskAccepted(one) for one in tasks))

    def claim(self, resource: str, seconds: float, *facts: Fact) -> Claim:
        """Take a resource, as an engine would."""
        claim = asyncio.run(self._claim(resource, seconds, facts))
        self.holders[resource] = claim
        return claim

    def take_charge(self, *facts: Fact, seconds: float = 60.0) -> Claim:
        """Let a loop be in charge."""
        return self.claim(CONTROLLER, seconds, *facts)

    def start(
        self, name: str, attempt: int = 1, phase: str = "implement", why: str = "next in order"
    ) -> Claim:
        """Let an attempt run."""
        return asyncio.run(self._start(TaskId(name), attempt, phase, why))

    def land(self, name: str, commit: str, on: str = "b" * 40) -> None:
        """Take a task through its whole pipeline."""
        key, base, work = TaskId(name), Commit(on), Commit("c" * 40)
        epoch = self.start(name).epoch
        self.write(
            WorkFinished(key, 1, "implement", epoch, base=base, commit=work, touched=("a.py",), seconds=2.0)
        )
        self.release(task_resource(name))
        epoch = self.start(name, phase="verify").epoch
        checks = (CheckResult("make test", 0, 1.5, log="logs/checks/1.log"),)
        self.write(
            CandidatePassed(key, 1, "verify", epoch, base, Commit(commit), Tree("t" * 40), work, checks)
        )
        self.release(task_resource(name))
        epoch = self.start(name, phase="land").epoch
        self.write(Landed(key, 1, "land", epoch, base, Commit(commit), Tree("t" * 40)))
        self.release(task_resource(name))

    def fail(self, name: str, why: str, check: CheckResult = RED) -> None:
        """Let a task's first attempt fail for good."""
        epoch = self.start(name).epoch
        self.write(
            PhaseFailed(
                TaskId(name), 1, "implement", epoch, ErrorClass.EXIT, said(why), "f1", checks=(check,)
            ),
            TaskFailed(TaskId(name), 1, said(why)),
        )
        self.release(task_resource(name))

    def release(self, resource: str) -> None:
        """Free a resource."""
        asyncio.run(self._release(resource))

    async def _release(self, resource: str) -> None:
        store = self._open()
        try:
            await store.revoke(resource, [], "test")
        finally:
            await store.close()

    def facts(self) -> list[Fact]:
        """The whole log."""
        return [row.fact for row in asyncio.run(self._read())]

    async def _write(self, facts: Sequence[Fact]) -> list[Recorded]:
        store = self._open()
        try:
            return await store.append(facts, "test")
        finally:
            await store.close()

    async def _claim(self, resource: str, seconds: float, facts: Sequence[Fact]) -> Claim:
        store = self._open()
        try:
            taken = await store.claim(resource, "test-holder", seconds, lambda _: facts)
            assert taken
            return taken[0]
        finally:
            await store.close()

    async def _start(self, name: TaskId, attempt: int, phase: str, why: str) -> Claim:
        store = self._open()
        try:
            taken = await store.claim(
                task_resource(name),
                "test-holder",
                60.0,
                lambda epoch: [PhaseStarted(name, attempt, phase, epoch, "test-holder", said(why), "coder")],
            )
            assert taken
            return taken[0]
        finally:
            await store.close()

    async def _read(self) -> list[Recorded]:
        store = self._open()
        try:
            return await store.read(0, 100_000)
        finally:
            await store.close()

    def _open(self) -> Store:
        Path(self.log).parent.mkdir(exist_ok=True)
        return open_store(self.log, "lab")


@pytest.fixture(autouse=True)
def plain_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own settings, colours or agents."""
    for name in REMOVED:
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit on main."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("A shop\n")
    git(root, "add", "README.md")
    git(root, "commit", "-q", "-m", "start")
    return root


@pytest.fixture
def lab(repository: Path, capsys: pytest.CaptureFixture[str]) -> Lab:
    return Lab(repository, capsys)


def interlock(*words: str, cwd: Path, env: dict[str, str] | None = None) -> Result:
    """The command as a process of its own."""
    done = warm.run([*warm.INTERLOCK, *words], cwd, os.environ | (env or {}))
    return Result(done.returncode, done.stdout, done.stderr)
