"""Nothing that one attempt or check writes is there for another: the real command, in both layouts."""

import json
import os
import pty
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.places import IPC, identities
from tests.engine.scratch import Scratch
from tests.tiers import rest_thorough

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

PLACES = Path(__file__).with_name("places.py")
HIDE = (
    "mv tests/security .s; ln -s ../.s tests/security; echo exit 0 > .s/run.sh; git add -A; git commit -qm x"
)
GRAPH = """\
version: 1
defaults: {{agent: shell, retries: 0, timeout: 60s, verify: {checks}}}
agents: {{shell: {{use: command, run: [sh, agent.sh]}}}}
tasks:
  a: {{goal: a}}
  b: {{goal: b, needs: [a]}}
"""


@pytest.fixture(params=rest_thorough(["bubblewrap", "landlock"], always=["bubblewrap"]))
def scratch(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scratch]:
    """Workspaces are overlays in the one, and copies in the other."""
    monkeypatch.setenv("INTERLOCK_SANDBOX", request.param)
    made = Scratch(tmp_path / "repository")
    yield made
    made.close()


def write(scratch: Scratch, agent: str, *checks: str) -> None:
    text = GRAPH.format(checks=f"[{', '.join(map(repr, checks))}]")
    scratch.write(agent__sh=f"{agent}\n", **{"task-graph__yaml": text})


def test_a_check_cannot_take_tests_away_from_the_next(scratch: Scratch) -> None:
    """The attack of the issue: what `a` landed hides the tests when it is checked, and `b` has a backdoor."""
    for name, text in {"security/run.sh": "! test -e backdoor", "unit/run.sh": "true"}.items():
        (scratch.root / "tests" / name).parent.mkdir(parents=True)
        (scratch.root / "tests" / name).write_text(f"{text}\n")
    agent = f'case $INTERLOCK_TASK_ID in a) echo "{HIDE}" > tests/unit/run.sh;; b) touch backdoor;; esac'
    write(scratch, agent, "sh tests/unit/run.sh", "sh tests/security/run.sh", "sh tests/unit/run.sh")
    scratch.commit()
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "done", "b": "failed"}
    assert "backdoor" not in scratch.git("ls-tree", "-r", "--name-only", "main").splitlines()
    (failure,) = scratch.facts("PhaseFailed")
    red = [check["command"] for check in failure["fact"]["checks"] if check["exit_code"]]
    assert red == ["sh tests/security/run.sh"]


def test_nothing_that_one_can_write_is_found_by_another(scratch: Scratch) -> None:
    """Set-up, agent, agent, and checks of both: each looks for what the others left, then leaves its own."""
    ignored = scratch.root / "node_modules" / "made"
    ignored.mkdir(parents=True)
    (ignored / "index.js").write_text("mine\n")
    ours, theirs = pty.openpty()  # stands for the terminal of the person
    host = {"folders": identities(), "terminals": [os.ttyname(theirs)], "ipc": str(IPC.readlink())}
    scratch.write(places__py=PLACES.read_text(), host__json=json.dumps(host), __gitignore="node_modules/\n")
    look = "python3 -B places.py"
    write(scratch, f"{look} agent && echo > $INTERLOCK_TASK_ID.txt", look, f"{look} again")
    scratch.commit()
    scratch.interlock("run")
    os.close(ours)
    os.close(theirs)
    assert scratch.states() == {"a": "done", "b": "done"}
    assert sorted(path.name for path in ignored.iterdir()) == ["index.js"]
    said = "".join(path.read_text() for path in (scratch.root / ".git/interlock").glob("[le]*/**/*.log"))
    assert len(re.findall("left: .+/", said)) >= 6, "each had places to leave something in"
