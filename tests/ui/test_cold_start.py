"""Each command in a process that starts with nothing imported, as people start it.

Most tests start commands warm (tests/warm.py), which hides an import that is missing or goes in a circle.
"""

import subprocess
from collections.abc import Iterator

import pytest

from interlock.ui.cli.app import COMMANDS
from tests.engine.scratch import Scratch
from tests.tiers import rest_at_night
from tests.warm import INTERLOCK

pytestmark = pytest.mark.slow

ELSEWHERE = {"demo", "run", "serve", "top", "ui"}
"""Started cold, and looked at more closely, by tests of their own."""
OF_A_TASK = ("logs", "attach", "explain", "route", "show", "diff", "prompt", "retry", "reset", "cancel")
ARGUMENTS = {
    **{name: ["t"] for name in OF_A_TASK},
    "add": ["t", "Do it again"],
    "accept": ["t/u"],
    "answer": ["t", "yes"],
    "approve": ["t"],
    "comment": ["t", "t.txt:1", "why?"],
    "reject": ["t", "-m", "no"],
    "say": ["t", "hello"],
    "unpause": ["t"],
    "what-if": ["--max-parallel", "2"],
    "workspace": ["list"],
    "completion": ["show", "bash"],
    "config": ["show"],
    "undo": ["t"],
    "verify": ["main"],
}
BY_DAY = {"doctor", "plan", "retry", "status"}
"""They reach the most packages, one each: the others differ in their last import."""
REFUSE = {"add", "init", "retry", "reset", "cancel", "answer", "say", "undo", "unpause"}
REFUSE |= {"accept", "approve", "comment", "reject"}
"""Commands that have nothing to do in a project whose only task has landed, or ask first, and say so."""


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    scratch = Scratch(tmp_path_factory.mktemp("cold") / "a repository")
    scratch.graph("  t: {goal: t}\n", verify='"true"')
    scratch.interlock("run")
    yield scratch
    scratch.close()


@pytest.mark.parametrize("name", rest_at_night(sorted(COMMANDS.keys() - ELSEWHERE), BY_DAY))
def test_a_command_works_in_a_process_of_its_own(name: str, landed: Scratch) -> None:
    argv = [*INTERLOCK, name, *ARGUMENTS.get(name, [])]
    done = subprocess.run(argv, cwd=landed.root, env=landed.env, capture_output=True, text=True, check=False)
    assert (done.returncode == 2) == (name in REFUSE), f"{done.returncode}: {done.stdout} {done.stderr}"
    assert done.returncode in {0, 2}, f"{done.returncode}: {done.stdout} {done.stderr}"
