"""The first run breaks the code on purpose and says whether the checks noticed, through the real command."""

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

SHAPES = "def area(side):\n    return side * side\n"
TEST = """\
import unittest
import shapes


class T(unittest.TestCase):
    def test(self):
        assert shapes.area(2) == 4
"""
VERIFY = '"python3 -m unittest -q"'


def test_the_first_run_says_that_the_checks_noticed_and_the_second_asks_no_more(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify=VERIFY)
    said = scratch.interlock("run")
    assert "canary: broke shapes.area; `python3 -m unittest -q` noticed in " in said
    assert scratch.states() == {"a": "done", "b": "done"}
    (tried,) = scratch.facts("CanaryTried")
    assert (tried["fact"]["noticed"], tried["fact"]["places"]) == (True, ["shapes.area"])
    assert [task["evidence"]["grade"] for task in scratch.status()["tasks"]] == ["verified", "verified"]
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n  c: {goal: c}\n", verify=VERIFY)
    assert "canary" not in scratch.interlock("run")
    assert len(scratch.facts("CanaryTried")) == 1


def test_checks_that_notice_nothing_verify_nothing_and_the_run_says_so(scratch: Scratch) -> None:
    """They pass whatever the code does: what lands is observed, and the commit says why."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST, other__py="def other():\n    return 1\n")
    scratch.graph("  a: {goal: a}\n", verify='"python3 -c pass"')
    said = scratch.interlock("run")
    assert "canary: broke shapes.area, then other, and `python3 -c pass` stayed green" in said
    (task,) = scratch.status()["tasks"]
    assert task["evidence"]["gap"] == "canary-not-noticed"
    assert "landed (unverified)" in task["reason"]
    trailer = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert trailer == "observed, the checks did not notice code broken on purpose"


def test_after_the_checks_were_mended_the_next_run_tries_again(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, check__sh="true\n")
    scratch.graph("  a: {goal: a}\n", verify='"sh check.sh"')
    scratch.interlock("run")
    scratch.write(check__sh="python3 -c 'import shapes; shapes.area(1)'\n", test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", verify='"sh check.sh"')
    assert "`sh check.sh` noticed" in scratch.interlock("run")
    grades = {task["id"]: task["evidence"]["grade"] for task in scratch.status()["tasks"]}
    assert grades == {"a": "observed", "b": "verified"}


def test_a_canary_is_in_no_ref_and_no_working_tree(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n", verify=VERIFY)
    scratch.interlock("run")
    assert scratch.git("log", "--all", "-S", "interlock canary", "--format=%H") == ""
    assert scratch.git("status", "--porcelain") == ""
    assert "canary" not in (scratch.root / "shapes.py").read_text()
