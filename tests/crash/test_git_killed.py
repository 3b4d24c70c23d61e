"""A git process of the engine is killed, with main checked out: the next `interlock run` finishes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.crash.git_faults import ENGINE_TOO, GIT_ALONE, MOMENTS, FaultyGit, Point
from tests.engine.scratch import Scratch
from tests.tiers import rest_thorough

pytestmark = [pytest.mark.crash, pytest.mark.slow]

AGENT = """\
case $INTERLOCK_TASK_ID in
    a) echo 2 > same.txt; rm gone.txt; mkdir sub; echo a > sub/a.txt;;
    b) echo b > b.txt;;
esac
"""
LANDED = {"same.txt": "2\n", "sub/a.txt": "a\n", "b.txt": "b\n"}
LANDINGS = [
    Point("middle", 2, "update-ref --stdin"),
    Point("middle", 1, "read-tree -m -u"),
    Point("middle", 2, "read-tree -m -u", ENGINE_TOO),
    Point("after", 1, "update-ref -m", ENGINE_TOO),
    Point("before", 1, "update-ref -m"),
]
"""Where work is kept, the branch moves and the checkout follows: the moments that have lost work before."""


class Fault:
    """A repository with main checked out, and a git that can strike."""

    def __init__(self, folder: Path) -> None:
        self.scratch = Scratch(folder / "repository")
        self.scratch.write(same__txt="1\n", gone__txt="1\n")
        self.scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", AGENT)
        self.git = FaultyGit(folder / "bin")

    def run(self, point: Point) -> None:
        """Run with the faulty git; it ends somehow."""
        self.git.set(point)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(self.git.folder), prepend=":")
            self.scratch.interlock("run", code=None)

    def check(self) -> None:
        """Everything landed once, all that landed is in the checkout, and git finds nothing wrong."""
        scratch = self.scratch
        assert scratch.states() == {"a": "done", "b": "done"}
        assert scratch.git("log", "--format=%s", "-3", "main").splitlines() == ["b", "a", "work to do"]
        assert scratch.git("status", "--porcelain", "--untracked-files=all") == ""
        assert {name: (scratch.root / name).read_text() for name in LANDED} == LANDED
        assert not (scratch.root / "gone.txt").exists()
        assert "error" not in scratch.git("fsck", "--strict", "--no-dangling")
        assert [path.name for path in (scratch.root / ".git").glob("*.lock")] == []

    def strike_and_go_on(self, point: Point) -> None:
        """Let git die there. Then an ordinary run must do the rest, without a question."""
        self.run(point)
        try:
            self.scratch.interlock("run")
            self.check()
        except AssertionError as wrong:
            raise AssertionError(f"{point}: {self.git.struck or 'never reached'}") from wrong


@pytest.fixture
def fault(tmp_path: Path) -> Iterator[Fault]:
    made = Fault(tmp_path / "one")
    yield made
    made.scratch.close()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The number of git processes in a run without a fault."""
    made = Fault(tmp_path_factory.mktemp("counted") / "one")
    made.run(Point("before", 0))
    made.check()
    return made.git.processes


@pytest.mark.parametrize("point", rest_thorough(LANDINGS, always=LANDINGS[:3]), ids=str)
def test_git_killed_while_main_moves_loses_nothing(fault: Fault, point: Point) -> None:
    fault.strike_and_go_on(point)
    assert fault.git.struck


@pytest.mark.night
@pytest.mark.parametrize("strike", [GIT_ALONE, ENGINE_TOO], ids=["git alone", "engine too"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_git_killed_at_any_process_loses_nothing(
    processes: int, moment: str, strike: str, tmp_path: Path
) -> None:
    point = Point(moment, 0, strike=strike)
    for number in range(1, processes + 1):
        Fault(tmp_path / str(number)).strike_and_go_on(replace(point, number=number))
