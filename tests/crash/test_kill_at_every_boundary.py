"""kill -9 of the real process before and after each step: the next start ends in the same state (W5, D4, R5).

Real git, real agents, a real database; 21 boundaries, before and after, on both stores. The usual run of the
tests takes the agent and the landing on SQLite and a claim on Postgres, `make test-all` one boundary of each
hand, and the night all.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from interlock.engine.project import open_project
from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.record import Recorded, verify_chain
from tests import warm

DRIVER = Path(__file__).with_name("crash_driver.py")

GRAPH = """\
version: 1
defaults: {agent: shell, verify: "sh check.sh", timeout: 30s}
agents:
  shell: {use: command, run: [sh, agent.sh]}
tasks:
  a: {goal: write a, touches: [a.txt]}
  b: {goal: write b, touches: [b.txt]}
  c: {goal: write c, needs: [a], touches: [c.txt]}
  d: {goal: write d, touches: [d.txt], done_when: ["grep -q better d.txt"]}
"""

AGENT = """\
grep -q 'It failed at verify' "$INTERLOCK_PROMPT_FILE" && word=better || word=first
echo "$INTERLOCK_TASK_ID $word" > "$INTERLOCK_TASK_ID.txt"
"""

BOUNDARIES = [
    "store.claim:1",  # taking charge
    "repository.raise_fence:1",
    "repository.tip:1",
    "store.append:1",  # where main is
    "store.claim:2",  # the first task
    "store.claim:4",
    "executor.carry_out:1",
    "workspaces.open:1",
    "workspaces.collect:1",
    "workspaces.discard:1",
    "store.release:1",  # the first result
    "repository.merge:1",
    "checker.check:1",  # main itself
    "checker.check:2",  # the first change
    "repository.commit:1",
    "store.release:3",
    "repository.land:1",
    "store.release:5",
    "repository.land:3",
    "workspaces.collect:4",
    "store.save_snapshot:1",
]


BY_DAY = (
    "repository.raise_fence:1",
    "store.claim:4",
    "executor.carry_out:1",
    "workspaces.collect:1",
    "checker.check:2",
    "repository.land:1",
    "store.release:5",
)
"""Of each hand the one with the most to lose; all others only at night."""
ALWAYS = ("executor.carry_out:1", "repository.land:1")
"""Of these, where the work of an agent and a landing could be lost; the others are thorough."""
ON_POSTGRES = ("store.claim:4",)
"""Where a database of its own makes a difference; all others only at night."""


def kills() -> Iterator[ParameterSet]:
    for number, boundary in enumerate(BOUNDARIES):
        for place, side in enumerate(("before", "after")):
            is_usual = boundary in BY_DAY and (number % 2 == place or boundary == "repository.land:1")
            tier = () if boundary in ALWAYS else pytest.mark.thorough
            yield pytest.param("sqlite", boundary, side, marks=tier if is_usual else pytest.mark.night)
            night = () if is_usual and boundary in ON_POSTGRES else (pytest.mark.night,)
            yield pytest.param("postgres", boundary, side, marks=(pytest.mark.postgres, *night))


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.parametrize(("store", "boundary", "side"), list(kills()))
def test_a_kill_leaves_nothing_that_the_next_start_does_not_finish(
    store: str, boundary: str, side: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if store == "postgres" else ""
    root = make_repository(tmp_path / "repository", url)
    killed = drive(root, f"{boundary}:{side}")
    assert killed.returncode == -9, f"the boundary was never reached: {killed.stdout} {killed.stderr}"
    assert drive(root).returncode == 0
    assert final_state(root) == EXPECTED


EXPECTED = {
    "stages": {"a": "done", "b": "done", "c": "done", "d": "done"},
    "files": {"a.txt": "a first", "b.txt": "b first", "c.txt": "c first", "d.txt": "d better"},
    "landings": {"a": 1, "b": 1, "c": 1, "d": 1},
    "checkout": "",
    "workspaces": 0,
}


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.thorough
def test_the_run_without_a_kill_ends_in_the_same_state(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository", "")
    done = drive(root)
    assert done.returncode == 0, done.stderr
    seen = dict(part.split("=") for part in done.stdout.split())
    for boundary in BOUNDARIES:
        call, _, number = boundary.rpartition(":")
        assert int(seen.get(call, 0)) >= int(number), f"{boundary} is not on the path: {seen}"
    assert final_state(root) == EXPECTED


@pytest.fixture(autouse=True)
def own_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may say where its log is kept."""
    monkeypatch.setenv("INTERLOCK_TRUST_FOLDERS", str(tmp_path))


def make_repository(root: Path, url: str) -> Path:
    root.mkdir()
    (root / "task-graph.yaml").write_text(GRAPH)
    (root / "agent.sh").write_text(AGENT)
    (root / "check.sh").write_text("test -f agent.sh\n")
    if url:
        (root / "interlock.toml").write_text(f'store = "{url}"\nproject_name = "{root.parent.name}"\n')
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start")
    return root


def drive(root: Path, *boundary: str) -> subprocess.CompletedProcess[str]:
    return warm.run([sys.executable, str(DRIVER), str(root), *boundary], root)


def git(root: Path, *argv: str) -> str:
    return subprocess.run(["git", *argv], cwd=root, check=True, capture_output=True, text=True).stdout


def final_state(root: Path) -> dict[str, object]:
    """What must not depend on whether, or where, the process was killed."""
    rows = asyncio.run(read_all(root))
    verify_chain(rows)
    state = fold(rows)
    trailers = git(
        root, "log", "--format=%(trailers:key=Interlock-Task,valueonly,separator=)", "main"
    ).split()
    landed = {row.fact.commit for row in rows if isinstance(row.fact, f.Landed)}
    assert landed == set(git(root, "log", "--format=%H", "-4", "main").split())
    return {
        "stages": {name: task.stage.value for name, task in sorted(state.tasks.items())},
        "files": {f"{n}.txt": git(root, "show", f"main:{n}.txt").strip() for n in "abcd"},
        "landings": dict(sorted(Counter(trailers).items())),
        "checkout": git(root, "status", "--porcelain").strip(),
        "workspaces": len(list((root / ".git/interlock" / "workspaces").glob("*/*"))),
    }


async def read_all(root: Path) -> list[Recorded]:
    async with open_project(root) as project:
        return await project.store.read(0, 100_000)
