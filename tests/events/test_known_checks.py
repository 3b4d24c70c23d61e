"""A result of a check counts again only where everything that decided it is the same."""

from dataclasses import replace

import pytest

from interlock.events import facts as f
from interlock.events.known_checks import RESULTS_KEPT, known_check, was_red
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State
from interlock.model.outcome import CheckKey, CheckResult
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import Tree
from tests.events.test_baselines import T1, state_of

SAW = Tree("saw")
SUITE = SuiteResult(("p", "q"), (), 2, 0)
GREEN = CheckResult("make", 0, 3.0, log="1.log", suite=SUITE, saw=SAW, environment="here", change="files")
RED = replace(GREEN, exit_code=1, suite=None)
KEY = CheckKey("make", "here", SAW, "files")


def tried(result: CheckResult, tree: Tree = T1) -> f.BaseChecked:
    return f.BaseChecked(tree, result.command, result.exit_code, result=result, environment="here")


def after(*results: CheckResult) -> State:
    return state_of(*map(tried, results))


def test_a_green_result_counts_again_and_keeps_its_log() -> None:
    found = known_check(after(GREEN), KEY)
    assert found and found.passed and found.reused
    assert (found.log, found.saw) == ("1.log", SAW)


@pytest.mark.parametrize(
    "other",
    [
        KEY._replace(command="make all"),
        KEY._replace(environment="elsewhere"),
        KEY._replace(saw=T1),
        KEY._replace(change="other files"),
    ],
)
def test_it_does_not_count_where_something_that_decided_it_differs(other: CheckKey) -> None:
    assert known_check(after(GREEN), other) is None


@pytest.mark.parametrize("lacking", [replace(GREEN, saw=Tree("")), replace(GREEN, environment="")])
def test_a_result_that_does_not_say_what_decided_it_is_not_kept(lacking: CheckResult) -> None:
    assert not after(lacking).checks.known


@pytest.mark.parametrize(
    "says_nothing",
    [
        replace(RED, timed_out=True),
        replace(RED, unable=Unable.MACHINE),
        replace(RED, usual_seconds=1.0),
        replace(GREEN, edited=("a.py",)),
        replace(RED, vanished=("p",), vanished_count=1),
    ],
)
def test_a_check_that_could_not_run_or_tested_other_files_says_nothing(says_nothing: CheckResult) -> None:
    state = after(says_nothing)
    assert known_check(state, KEY) is None
    assert was_red(state, KEY) is None


def test_a_red_result_is_only_the_first_of_two_runs() -> None:
    state = after(GREEN, RED)
    assert known_check(state, KEY) is None
    assert was_red(state, KEY)


def test_a_change_of_which_the_check_sees_nothing_has_the_result_of_main() -> None:
    on_main = replace(GREEN, change="", rewrites=("lock",))
    found = known_check(after(on_main), KEY._replace(change=""))
    assert found and found.reused
    assert found.suite == SUITE
    assert found.rewrites == ()


def test_a_result_without_names_does_not_count_where_main_names_its_tests() -> None:
    counted = replace(GREEN, suite=SuiteResult((), (), 2, 0))
    on_main = replace(GREEN, saw=T1, change="")
    assert known_check(after(counted, replace(on_main, suite=SuiteResult((), (), 2, 0))), KEY)
    one_more = replace(on_main, suite=SuiteResult(("p", "q", "r"), (), 3, 0))
    assert known_check(after(counted, one_more), KEY) is None


def test_the_names_that_main_has_too_are_filled_in() -> None:
    """A candidate names only the tests that are new."""
    new = replace(GREEN, suite=SuiteResult(("r",), (), 3, 0))
    found = known_check(after(new, replace(GREEN, saw=T1, change="")), KEY)
    assert found and found.suite and found.suite.passed == ("p", "q", "r")


def test_the_oldest_results_are_forgotten() -> None:
    state = after(GREEN, *(replace(GREEN, command=f"make {number}") for number in range(RESULTS_KEPT)))
    assert len(state.checks.known) == RESULTS_KEPT
    assert known_check(state, KEY) is None


def test_a_snapshot_keeps_them() -> None:
    state = after(GREEN)
    again = unpack(pack(state), state.hash)
    assert again and known_check(again, KEY) == known_check(state, KEY)


def test_of_a_large_suite_only_the_names_that_main_lacks_are_kept() -> None:
    """A snapshot must not hold the names of thousands of tests once for each change."""
    many = tuple(f"test {number}" for number in range(500))
    on_main = replace(GREEN, saw=T1, change="", suite=SuiteResult(many, (), 500, 0))
    state = after(on_main, replace(GREEN, suite=SuiteResult((*many, "new"), (), 501, 0)))
    assert state.checks.baselines["make"].result.suite
    kept = state.checks.known[KEY].suite
    assert kept and kept.passed == ("new",)
