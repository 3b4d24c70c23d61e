"""D8: a check that fails by chance on main blames no commit, freezes nothing for long, and is counted."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.engine.test_frozen_main import push

pytestmark = pytest.mark.slow

CHECK = """\
test ! -e broken || exit 1
test -e one && test ! -e c.txt && test ! -e d.txt || exit 0
left=$(cat {left})
test "$left" -gt 0 || exit 0
echo $((left - 1)) > {left}
exit 1
"""
"""Fails by chance as often as the file outside says, on a main that has `one` and no task's change."""


def outside(scratch: Scratch) -> Path:
    """A folder that the environment of checks does not see."""
    found = scratch.gates / "deep" / "deeper"
    found.mkdir(parents=True, exist_ok=True)
    return found


def start(scratch: Scratch, tasks: str = "") -> None:
    """A run whose tasks wait for their gates, but for `a`; the check fails on main by chance, later."""
    (outside(scratch) / "left").write_text("0\n")
    agent = (
        f"test $INTERLOCK_TASK_ID = a || {{ {WAIT.format(gate=outside(scratch) / '$INTERLOCK_TASK_ID')}; }}\n"
    )
    scratch.write(check__sh=CHECK.format(left=outside(scratch) / "left"))
    scratch.graph(
        "  a: {goal: a}\n  c: {goal: c}\n" + tasks,
        agent + 'echo x > "$INTERLOCK_TASK_ID.txt"',
        verify="sh check.sh",
    )


def flaky(scratch: Scratch) -> list[str]:
    return [each["fact"]["task"] for each in scratch.facts("CheckFlaked")]


def test_a_check_that_fails_twice_by_chance_blames_no_commit(scratch: Scratch) -> None:
    start(scratch)
    run = scratch.start("run", "--unsafe-no-sandbox")  # so that the check can count its runs outside
    run.wait_for_line("a: landed as")
    (outside(scratch) / "left").write_text("2\n")
    push(scratch, "one")
    (outside(scratch) / "c").touch()
    assert run.wait() == 0, run.output
    assert [each["fact"]["commit"] for each in scratch.facts("CulpritFound")] == []
    assert [bool(each["fact"]["red"]) for each in scratch.facts("MainJudged")] == [True, False]
    assert flaky(scratch) == [""] and scratch.states() == {"a": "done", "c": "done"}
    assert "main: `sh check.sh` failed and passed again on the same files" in run.output
    assert "`sh check.sh` failed 1 time in" in (told := scratch.interlock("errors", "--flaky")), told
    assert " main: evidence/" in told


def test_a_check_that_fails_once_on_main_is_counted(scratch: Scratch) -> None:
    start(scratch)
    run = scratch.start("run", "--unsafe-no-sandbox")
    run.wait_for_line("a: landed as")
    (outside(scratch) / "left").write_text("1\n")
    push(scratch, "one")
    (outside(scratch) / "c").touch()
    assert run.wait() == 0, run.output
    assert [each["fact"]["red"] for each in scratch.facts("MainJudged")] == [[]]
    assert flaky(scratch) == [""]


def test_files_on_which_the_check_has_passed_freeze_nothing_by_chance(scratch: Scratch) -> None:
    """A person takes a commit back: main has the files again that were tested when `a` landed."""
    scratch.write(one="x")
    start(scratch, "  d: {goal: d}\n")
    run = scratch.start("run", "--unsafe-no-sandbox")
    run.wait_for_line("a: landed as")
    red = push(scratch, "broken")
    (outside(scratch) / "c").touch()
    run.wait_for_line(f"fails on main since {red[:12]}")
    (outside(scratch) / "left").write_text("2\n")
    scratch.git("revert", "--no-edit", "HEAD")
    run.wait_for_line("c: landed as")
    (outside(scratch) / "d").touch()
    assert run.wait() == 0, run.output
    assert [bool(each["fact"]["red"]) for each in scratch.facts("MainJudged")] == [True, False]
    assert flaky(scratch) == [""] and set(scratch.states().values()) == {"done"}


def test_a_commit_between_others_that_fails_by_chance_is_not_blamed(scratch: Scratch) -> None:
    """The search sees `one` fail twice, and the real culprit is two commits above it."""
    start(scratch)
    run = scratch.start("run", "--unsafe-no-sandbox")
    run.wait_for_line("a: landed as")
    (outside(scratch) / "left").write_text("2\n")
    push(scratch, "one")
    scratch.write(two="x")
    scratch.commit("Add two")
    red = push(scratch, "broken")
    (outside(scratch) / "c").touch()
    run.wait_for_line(f"fails on main since {red[:12]} by Person (Add broken)")
    assert run.wait() == 6, run.output
    assert flaky(scratch) == [""]
