"""kill -9 of a run that pushes, while a colleague pushes too: nothing is lost, nothing untested is pushed.

`INTERLOCK_KILLS=100` asks for more kills than the few of a normal run; the moments follow from
`INTERLOCK_KILL_SEED`.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.remotes import Remote, Server
from tests.engine.scratch import Scratch
from tests.engine.test_push import assert_all_landed, published

KILLS = int(os.environ.get("INTERLOCK_KILLS", "4"))
SEED = int(os.environ.get("INTERLOCK_KILL_SEED", "1"))
MOST_IN_ONE = 10
"""Kills of one project, before a run comes to its end."""
TASKS = 6
LATEST_SECONDS = 4.0
"""The time after the push of the colleague when a run is killed at the latest."""


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.thorough
def test_kills_at_any_moment_lose_nothing_and_push_nothing_untested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(SEED)
    kills = pushes = projects = 0
    while kills < KILLS:
        projects += 1
        scratch = Scratch(tmp_path / str(projects) / "repository")
        names = [f"t{number}" for number in range(TASKS)]
        with Server(scratch.root.parent / "served").on() as server:
            remote = published(scratch, "".join(f"  {name}: {{goal: x}}\n" for name in names), url=server.url)
            for _ in range(min(MOST_IN_ONE, KILLS - kills)):
                run = scratch.start("run", "--no-input", "--max-parallel", "2")
                pushes += push_beside(remote)
                if not run.kill_after(dice.uniform(0.0, LATEST_SECONDS)):
                    break
                kills += 1
            scratch.interlock("run", "--no-input")
            assert_all_landed(scratch, remote, *names)
            assert "error" not in scratch.git("fsck", "--strict", "--no-dangling")
        scratch.close()
    with capsys.disabled():
        sys.stdout.write(f" SEED={SEED}: {kills} kills, {pushes} pushes of a colleague, {projects} projects ")


def push_beside(remote: Remote) -> int:
    """Let the colleague push something; the number of pushes that came through."""
    name = f"theirs-{len(remote.theirs)}"
    try:
        remote.push(name, **{f"{name}__txt": "1\n"})
    except subprocess.CalledProcessError:  # the run was faster
        remote.colleague_git("reset", "-q", "--hard", "@{upstream}")
        return 0
    return 1
