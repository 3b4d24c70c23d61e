"""Checks are not run again on the files that they passed on, and see no others than they declare."""

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


def test_a_check_is_not_run_again_on_the_tree_of_main_that_it_passed_on(scratch: Scratch) -> None:
    scratch.write(check__sh="test -e README\n", README="hello\n")
    scratch.graph('  a: {goal: a, done_when: "sh check.sh"}\n', "true")
    scratch.interlock("run")
    (tried,) = [fact["fact"]["result"] for fact in scratch.facts("BaseChecked")]
    (done,) = [fact["fact"] for fact in scratch.facts("NoChangeNeeded")]
    (check,) = done["checks"]
    assert check["reused"]
    assert (check["saw"], check["log"]) == (tried["saw"], tried["log"])
    assert "reused: the same files were tested before" in scratch.interlock("show", "a")
