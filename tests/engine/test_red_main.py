"""On a red main a change lands only if known failing tests explain all of its red, with the real command."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.engine.test_gate import (
    KNOWN_RED,
    ONE_TASK,
    PYTEST,
    RUNNER,
    SHAPES,
    TAP,
    TESTS,
    commits,
    refused,
    trailer,
)
from tests.tiers import rest_at_night

pytestmark = pytest.mark.slow

UNITTEST = """
from unittest import TestCase
from shapes import sides
class T(TestCase):
    def test_a(self): self.assertEqual(sides(), 4)
    def test_b(self): 1 / 0
"""
LINT = "grep -n TODO shapes.py"
"""A linter: it prints what it finds, without a word of an error."""
TODO = "echo '# TODO' >> shapes.py"
HARMLESS = "echo 'def corners(): return 4' >> shapes.py"


@pytest.fixture
def red(scratch: Scratch) -> Scratch:
    """A small Python project with one known failing test."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=TESTS, test_known__py=KNOWN_RED, tap__py=RUNNER)
    return scratch


def held(scratch: Scratch, *words: str) -> None:
    """A run that landed nothing, and told the agent why."""
    scratch.interlock("run", code=1)
    assert commits(scratch)[0] == "work to do"
    feedback = scratch.facts("PhaseFailed")[0]["fact"]["feedback"]
    assert [word for word in words if word not in feedback] == [], feedback


@pytest.mark.parametrize("place", rest_at_night(["before", "after"], by_day=["after"]))
def test_a_linter_in_the_same_script_is_a_second_reason(red: Scratch, place: str) -> None:
    tests = "python -m unittest -q ut || bad=1\n"
    lint = f"{LINT} && bad=1\n"
    both = lint + tests if place == "before" else tests + lint
    red.write(ut__py=UNITTEST, check__sh=both + "exit $bad\n")
    red.graph(ONE_TASK, TODO, verify="sh check.sh")
    held(red, "failed for another reason than on main: #:# TODO")


def test_a_script_and_make_around_the_tests_let_a_good_change_land(red: Scratch) -> None:
    red.write(
        ut__py=UNITTEST, Makefile="test:\n\techo begin; python -m unittest -q ut; code=$$?; exit $$code\n"
    )
    red.graph("  t: {goal: t}\n  u: {goal: u, needs: [t]}\n", HARMLESS, verify="make test")
    red.interlock("run")
    assert red.states() == {"t": "done", "u": "done"}
    assert trailer(red) == "verified on the merged tree, 1 known failing test as on main"


def test_an_option_that_stops_early_starts_nothing_and_names_itself(red: Scratch) -> None:
    red.graph(ONE_TASK, verify=f"{PYTEST} -x")
    refused(red, "`-x` stops before the tests after a failing one: remove it")


def test_two_sessions_in_one_check_start_nothing(red: Scratch) -> None:
    red.graph(ONE_TASK, verify=f"'{TAP}; {TAP}'")
    refused(red, "it has 2 test sessions", "a check of its own in `verify`")


def test_a_change_that_makes_the_check_green_by_deleting_tests_is_refused(red: Scratch) -> None:
    agent = "rm test_*.py; echo 'def test_x(): pass' > test_x.py; sed -i 's/a \\* b/a/' shapes.py"
    red.graph(ONE_TASK, agent, verify=TAP)
    held(red, "did not pass tests that pass on main (test_shapes.py::test_area, test_shapes.py::test_sides)")


def test_a_change_that_mends_the_known_failure_lands(red: Scratch) -> None:
    red.graph(ONE_TASK, "sed -i 's/1 == 2/1 == 1/' test_known.py", verify=TAP)
    red.interlock("run")
    assert red.states() == {"t": "done"} and trailer(red) == "verified on the merged tree"


def test_a_check_that_a_person_makes_red_during_the_run_is_run_on_main(scratch: Scratch, gate: Path) -> None:
    """The change is judged by the main that it lands on, whose failing test the log does not know yet."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=TESTS, tap__py=RUNNER)
    scratch.write(interlock__toml='on_red_main = "judge"\n')
    scratch.graph(ONE_TASK, f"{WAIT.format(gate=gate)}\n{HARMLESS}", verify=TAP)
    run = scratch.start("run")
    run.wait_for_line("t: implement started")
    scratch.write(test_known__py=KNOWN_RED)
    scratch.commit("A test that fails")
    theirs = scratch.git("rev-parse", "HEAD^{tree}")
    gate.touch()
    assert run.wait() == 0
    assert trailer(scratch) == "verified on the merged tree, 1 known failing test as on main"
    (checked,) = [each["fact"] for each in scratch.facts("BaseChecked") if each["fact"]["tree"] == theirs]
    assert checked["exit_code"] == 1


ADDS = (
    "echo 'def volume(a): return a * a * a' >> shapes.py; "
    "printf 'from shapes import volume\\ndef test_volume(): assert volume(2) == 8\\n' > test_volume.py"
)


def test_an_undo_on_a_red_main_takes_along_the_tests_that_it_removes(red: Scratch) -> None:
    red.graph("  a: {goal: a}\n", ADDS, verify=TAP)
    red.interlock("run")
    red.interlock("undo", "a", "--yes")
    red.interlock("run", code=1)
    assert red.states() == {"a": "cancelled", "undo-a": "done"}
    assert trailer(red) == "verified on the merged tree, 1 known failing test as on main"
    red.graph("  a: {goal: a}\n  b: {goal: b}\n", HARMLESS, verify=TAP)
    red.interlock("run", code=1)
    assert red.states()["b"] == "done", "the tests that went are not missed"


def test_an_undo_on_a_red_main_takes_no_test_along_that_it_does_not_remove(red: Scratch) -> None:
    """Without `a`, the tests of another file are found no more."""
    red.write(
        test_shapes__py=TESTS.replace(
            "def test_sides", "import os\nif os.path.exists('kept'):\n  def test_sides"
        )
    )
    red.graph("  a: {goal: a}\n", f"{ADDS}; echo x > kept", verify=TAP)
    red.interlock("run")
    red.interlock("undo", "a", "--yes")
    red.interlock("run", code=1)
    assert red.states() == {"a": "done", "undo-a": "failed"}
    failed = red.facts("PhaseFailed")[-1]
    assert "test_shapes.py::test_sides" in failed["fact"]["feedback"]


def test_tests_that_go_from_a_green_main_are_told(red: Scratch) -> None:
    more = "".join(f"def test_{number}(): pass\n" for number in range(4))
    red.write(test_known__py=more)
    one, most = (
        "sed -i /test_3/d test_known.py",
        "rm test_known.py test_shapes.py; echo 'def test_x(): pass' > test_x.py",
    )
    red.graph("  t: {goal: t}\n", one, verify=TAP)
    said = red.interlock("run")
    assert "removed tests: t: landed as" in said
    assert (
        trailer(red) == "observed, it removes tests of main, without 1 test of main (test_known.py::test_3)"
    )
    removed = "1 test of main no longer passes"
    for shown in (said, red.interlock("explain", "t"), red.interlock("show", "t")):
        assert removed in shown and "(test_known.py::test_3)" in shown
    assert red.status()["tasks"][0]["evidence"]["removed_tests"] == ["test_known.py::test_3"]
    red.graph("  t: {goal: t}\n  u: {goal: u, retries: 0}\n", most, verify=TAP)
    red.interlock("run", code=1)
    (failed,) = red.facts("PhaseFailed")
    assert "keeps fewer than half of the 5 tests of main" in failed["reason"]["text"]
    assert "test_known.py::test_0" in failed["fact"]["feedback"]


@pytest.mark.thorough
def test_a_moved_test_file_is_no_removal_and_exchanged_tests_verify_nothing(red: Scratch) -> None:
    red.write(test_known__py="def test_k(): pass\n")
    red.graph("  t: {goal: t}\n", "mv test_shapes.py test_forms.py; touch done", verify=TAP)
    red.interlock("run")
    assert trailer(red) == "verified on the merged tree"
    empty = 'rm test_*.py; for n in 1 2 3; do echo "def test_x$n(): pass" >> test_x.py; done'
    red.graph("  t: {goal: t}\n  u: {goal: u}\n", empty, verify=TAP)
    said = red.interlock("run")
    assert "observed, 3 tests of main no longer pass" in said, said
    assert trailer(red).startswith("observed, it removes tests of main, without 3 tests of main (")
    assert "test_forms.py::test_area" in trailer(red)
