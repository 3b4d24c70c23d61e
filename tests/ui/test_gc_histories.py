"""Random histories of workspaces, with `interlock gc` between them: no work of an agent is lost (D10).

`INTERLOCK_TEST_EXAMPLES` is the number of histories: 1,000 by night.
"""

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from interlock.git.discover import discover
from interlock.git.protocol import Workspace
from interlock.git.trash import Left
from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import Commit, TaskId
from tests.tiers import EXAMPLES
from tests.ui.conftest import Lab, git, task

T = TypeVar("T")
DAY = 86_400
HISTORIES = EXAMPLES if EXAMPLES >= 1_000 else max(4, EXAMPLES // 5)
AGES = (0, 3_600, 2 * DAY, 30 * DAY, 200 * DAY)
OPTIONS = ((), ("--older-than", "0s"), ("--records-older-than", "0s"), ("--dry-run",))


@dataclass
class History:
    """Agents at work in one repository, by the dice."""

    lab: Lab
    dice: Random
    texts: int = 0
    written: set[str] = field(default_factory=set)
    """The content of all files that agents left."""
    collected: set[str] = field(default_factory=set)
    open: list[Workspace] = field(default_factory=list)
    ended: list[Workspace] = field(default_factory=list)
    """Those whose agents have ended: their work was collected."""
    waiting: set[str] = field(default_factory=set)
    """Tasks that are not over."""
    told: list[str] = field(default_factory=list)

    @property
    def state_dir(self) -> Path:
        return self.lab.root / ".git/interlock"

    def go(self) -> None:
        for number in range(self.dice.randint(1, 2)):
            self.begin(f"t{number}")
        for _ in range(self.dice.randint(3, 9)):
            step = self.dice.choice((*[self.write] * 3, self.collect, self.discard, self.age, self.gc))
            self.told.append(step.__name__)
            step()
        self.gc()

    def begin(self, name: str) -> None:
        """A task is accepted, an attempt opened; perhaps the task has failed by the time that gc comes."""
        self.lab.accept(task(name))
        self.waiting.add(name)
        base = Commit(git(self.lab.root, "rev-parse", "refs/heads/main"))
        self.open.append(self.work(lambda workspaces: workspaces.open(TaskId(name), 1, base)))
        for record in ("logs", "evidence"):
            folder = self.state_dir / record / name / "1"
            folder.mkdir(parents=True)
            (folder / "1.log").write_text(f"{record} of {name}")
        if self.dice.random() < 0.6:
            self.lab.fail(name, "no idea")
            self.waiting.discard(name)

    def write(self) -> None:
        """An agent writes a file, and perhaps commits it, in its own private git dir."""
        if not (working := [each for each in self.open if each not in self.ended]):
            return
        self.texts += 1
        workspace, text = self.dice.choice(working), f"work {self.texts}\n"
        if not workspace.path.exists():
            return
        path = workspace.path / self.dice.choice(("a.txt", "b.txt", "folder/c.txt"))
        path.parent.mkdir(exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(before + text)
        self.written.add(before + text)
        if before not in self.collected:
            self.written.discard(before)  # the agent wrote over it

    def collect(self) -> None:
        if self.open and (workspace := self.dice.choice(self.open)).path.exists():
            self.work(lambda workspaces: workspaces.collect(workspace, "work"))
            self.ended.append(workspace)
            self.collected |= {path.read_text() for path in workspace.path.rglob("*.txt")}

    def discard(self) -> None:
        """A workspace is given up, or its process dies before it could be."""
        if self.open:
            workspace = self.open.pop(self.dice.randrange(len(self.open)))
            if self.dice.random() < 0.7:
                self.work(lambda workspaces: workspaces.discard(workspace))

    def age(self) -> None:
        """Time passes for all that lies around."""
        when = time.time() - self.dice.choice(AGES)
        for folder in (*self.state_dir.glob("trash/*"), *self.state_dir.glob("[le]*/*/*")):
            os.utime(folder, (when, when))
            for path in folder.glob("*.log"):
                os.utime(path, (when, when))

    def gc(self) -> None:
        kept = {left.path.name.rsplit("-", 2)[0] for left in self.left() if left.state == "evidence"}
        needed = self.waiting | kept
        done = self.lab.run("gc", *self.dice.choice(OPTIONS))
        assert done.code == 0, done.err
        for name in needed:
            for record in ("logs", "evidence"):
                assert (self.state_dir / record / name / "1" / "1.log").exists(), (name, self.told)
        self.look()

    def look(self) -> None:
        """Find everything that agents wrote, in the repository or in a folder."""
        listed = git(self.lab.root, "rev-list", "--objects", "--all").splitlines()
        stored = {line.split()[0] for line in listed}
        lying = [
            path.read_text()
            for place in ("workspaces", "trash")
            for path in (self.state_dir / place).rglob("*.txt")
        ]
        for text in self.written:
            blob = hashlib.sha1(b"blob %d\0" % len(text) + text.encode()).hexdigest()  # noqa: S324 - the id that git gives it
            assert blob in stored or text in lying, (text, self.told)

    def left(self) -> list[Left]:
        return GitWorkspaces(asyncio.run(discover(self.lab.root))).listing()

    def work(self, act: Callable[[GitWorkspaces], Awaitable[T]]) -> T:
        """Do it as a process of its own would: with nothing in memory from before."""

        async def do() -> T:
            workspaces = GitWorkspaces(await discover(self.lab.root))
            try:
                return await act(workspaces)
            finally:
                await workspaces.close()

        return asyncio.run(do())


@pytest.mark.slow
@pytest.mark.property
def test_no_history_of_workspaces_and_gc_loses_anything(lab: Lab) -> None:
    begin = git(lab.root, "rev-parse", "HEAD")
    left = 0
    for seed in range(HISTORIES):
        history = History(lab, Random(seed))
        try:
            history.go()
        except AssertionError as lost:
            raise AssertionError(f"seed {seed}: {lost}") from lost
        left += len(history.written)
        shutil.rmtree(history.state_dir)
        for ref in git(lab.root, "for-each-ref", "--format=%(refname)", "refs/interlock").splitlines():
            git(lab.root, "update-ref", "-d", ref)
    assert git(lab.root, "rev-parse", "HEAD") == begin
    assert left
