"""kill -9 of `interlock run` with main checked out, edited, or another branch there: the next run goes on.

Half of the kills come at any moment, half while git writes the files of a landing, which a slow filter makes
long (W5). `INTERLOCK_KILLS=200` asks for more of them than the few of a normal run.
"""

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import warm

KILLS = int(os.environ.get("INTERLOCK_KILLS", "0"))
SEED = int(os.environ.get("INTERLOCK_KILL_SEED", "1"))
MOST_IN_ONE = 10
"""Kills of one project, before a run comes to its end."""
AT_A_LANDING, AT_ANY_TIME = 0.5, 4.0 if KILLS else 1.5
"""How long after the journal is there, or after the start, a kill comes at the latest."""

AGENT = """\
echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"
echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.slow"
"""
CHECK = "for file in *.slow; do test -f ${file%.slow}.txt || exit 1; done\n"


class Project:
    """A repository with a person at work in it, and a run that is killed again and again."""

    def __init__(self, root: Path, layout: str, store: str, tasks: int) -> None:
        self.root, self.layout, self.tasks = root, layout, [f"t{number}" for number in range(tasks)]
        root.mkdir()
        files = {
            "task-graph.yaml": 'version: 1\ndefaults: {agent: shell, verify: "sh check.sh", timeout: 30s}\n'
            "agents:\n  shell: {use: command, run: [sh, agent.sh]}\ntasks:\n"
            + "".join(f"  {name}: {{goal: write {name}}}\n" for name in self.tasks),
            "agent.sh": AGENT,
            "check.sh": CHECK,
            "first.slow": "first\n",
            "first.txt": "first\n",
            "mine.txt": "as committed\n",
            ".gitattributes": "*.slow filter=slow\n",
        }
        if store:
            files["interlock.toml"] = f'store = "{store}"\nproject_name = "{root.parent.name}-{layout}"\n'
        for name, text in files.items():
            (root / name).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("config", "filter.slow.smudge", "sleep 0.1; cat")
        self.git("config", "filter.slow.clean", "cat")
        self.git("add", "-A")
        self.git("commit", "-qm", "start")
        if layout == "elsewhere":
            self.git("switch", "-q", "-c", "mine")
        if layout == "edited":
            (root / "mine.txt").write_text("edited\n")
            (root / "untracked.txt").write_text("untracked\n")

    def git(self, *argv: str) -> str:
        who = ("-c", "user.name=Person", "-c", "user.email=person@localhost")
        done = subprocess.run(["git", *who, *argv], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        """The person trusts the folder: its settings name a database."""
        return os.environ | {
            "INTERLOCK_HOST_BRAKE": "false",
            "INTERLOCK_TRUST_FOLDERS": str(self.root.parent),
        }

    def start(self) -> warm.Started:
        with (self.root.parent / "said").open("w") as said:
            argv = [*warm.INTERLOCK, "run", "--max-parallel", "2", "--no-input"]
            return warm.start(argv, self.root, self.environment, out=said.fileno(), err=said.fileno())

    def run_and_kill(self, dice: random.Random) -> bool:
        """Start a run and kill it; False if it came to its end before."""
        process = self.start()
        journal = self.root / ".git/interlock/checkout.json"
        if dice.random() < 0.5 and self.layout != "elsewhere":
            while not journal.exists():
                if _ended(process, 0.002):
                    return False
            ended = _ended(process, dice.random() * AT_A_LANDING)
        else:
            ended = _ended(process, dice.random() * AT_ANY_TIME)
        if not ended:
            process.kill()
            process.wait()
        return not ended

    def finish(self) -> str:
        """Run to the end; what it said."""
        code = self.start().wait(300)
        said = (self.root.parent / "said").read_text()
        assert code == 0, said
        return said

    def assert_nothing_lost(self) -> None:
        done = warm.run([*warm.INTERLOCK, "status", "--json"], self.root, self.environment)
        assert done.returncode == 0, done.stderr
        states = {task["id"]: task["state"] for task in json.loads(done.stdout)["tasks"]}
        assert states == dict.fromkeys(self.tasks, "done")
        said = self.git("log", "--first-parent", "--format=%(trailers:key=Interlock-Task,valueonly)", "main")
        assert Counter(said.split()) == dict.fromkeys(self.tasks, 1)
        for commit in self.git("rev-list", "--first-parent", "main").split():
            names = set(self.git("ls-tree", "--name-only", commit).split())
            assert all(name.replace(".slow", ".txt") in names for name in names), f"{commit} is red"
        assert not list((self.root / ".git").glob("*.lock"))
        expected = {"edited": " M mine.txt\n?? untracked.txt\n"}.get(self.layout, "")
        assert self.git("status", "--porcelain") == expected
        if self.layout == "edited":
            assert (self.root / "mine.txt").read_text() == "edited\n"
            assert (self.root / "untracked.txt").read_text() == "untracked\n"
        assert self.git("branch", "--show-current").strip() == (
            "mine" if self.layout == "elsewhere" else "main"
        )


def _ended(process: warm.Started, seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _rounds() -> Iterator[tuple[str, str, int]]:
    short = [
        ("clean", "sqlite", 2),
        ("edited", "sqlite", 1),
        ("elsewhere", "sqlite", 1),
        ("clean", "postgres", 1),
    ]
    if not KILLS:
        yield from short
        return
    for number in range(-(-KILLS // MOST_IN_ONE)):
        layout = ("clean", "edited", "clean", "elsewhere")[number % 4]
        yield layout, "postgres" if number % 3 == 2 else "sqlite", MOST_IN_ONE


def _marks(layout: str, store: str) -> list[pytest.MarkDecorator]:
    """Leave what changes the least to `make test-all`: another checkout, another store."""
    is_usual = layout != "elsewhere" and store == "sqlite"
    thorough = [] if is_usual or KILLS else [pytest.mark.thorough]
    return thorough + ([pytest.mark.postgres] if store == "postgres" else [])


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "store", "kills", "seed"),
    [
        pytest.param(*chosen, SEED + number, marks=_marks(*chosen[:2]))
        for number, chosen in enumerate(_rounds())
    ],
)
def test_a_killed_run_loses_nothing_and_asks_nothing(
    layout: str, store: str, kills: int, seed: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The number of killed runs is a property of the test in `--junit-xml`."""
    url = request.getfixturevalue("postgres_url") if store == "postgres" else ""
    project = Project(tmp_path / "project", layout, url, 2 * kills + 2)
    dice = random.Random(seed)
    killed = sum(project.run_and_kill(dice) for _ in range(kills))
    request.node.user_properties.append(("killed", killed))
    said = project.finish()
    assert "commit or stash" not in said
    project.assert_nothing_lost()
    assert killed, "every run came to its end before it could be killed"
