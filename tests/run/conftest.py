"""Where attempts are made, and programs leave their marks."""

import asyncio
from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import Commit
from interlock.process import LocalProcesses
from interlock.run import LocalExecutor
from interlock.sandbox.confinement import Unconfined
from tests.run.desk import Desk, git
from tests.run.network import ALONE
from tests.run.tree import Marked, marked


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("old\n")
    git(folder, "add", "file")
    git(folder, "commit", "-q", "-m", "first")
    place = asyncio.run(discover(folder))
    workspaces = GitWorkspaces(place)
    # Not in a sandbox: these agents show by their traces outside of it that they ran, and that they ended.
    processes = LocalProcesses(grace_seconds=0.3, choose=Unconfined)
    processes.lease.renew(60.0)
    executor = LocalExecutor(workspaces, processes, place.state, ALONE)
    return Desk(
        folder, place, Commit(git(folder, "rev-parse", "HEAD")), workspaces, executor, processes.lease
    )


@pytest.fixture
def here(tmp_path: Path) -> Marked:
    return marked(tmp_path)
