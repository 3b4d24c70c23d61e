"""What is done about an upstream that main has diverged from: one step at a time, from what is known."""

from dataclasses import replace

from interlock.events.state import State
from interlock.model.outcome import CheckResult, Merge
from interlock.model.task import Commit, Task, TaskId, Tree
from interlock.train.upstream import (
    CheckMerge,
    LandMerge,
    RefuseMerge,
    UpstreamMerge,
    merge_step,
    with_checks,
)
from tests.events.journal import AGENT, Journal

TREE = Tree("both")
FOUND = UpstreamMerge(Commit("ours"), Commit("theirs"), Merge(TREE))
GREEN, RED = CheckResult("make", 0), CheckResult("make", 2, tail="boom")


def project(*verify: str) -> State:
    return Journal(Task(TaskId("a"), "do a", AGENT, verify=verify, check_seconds=7)).state


def test_the_checks_of_all_tasks_run_on_the_merged_tree_and_then_it_lands() -> None:
    state = project("make", "lint")
    step = merge_step(state, FOUND, None)
    assert step == CheckMerge(("make", "lint"), 7, TREE)
    checked = with_checks(FOUND, step, [GREEN, CheckResult("lint", 0)])
    assert merge_step(state, checked, None) == LandMerge(TREE)


def test_a_project_without_checks_takes_the_merge_as_it_is() -> None:
    assert merge_step(project(), FOUND, None) == LandMerge(TREE)


def test_a_red_check_is_tried_on_main_before_it_speaks_against_the_merge() -> None:
    state = project("make")
    red = with_checks(FOUND, CheckMerge(("make",), 7, TREE), [RED])
    step = merge_step(state, red, None)
    assert step == CheckMerge(("make",), 7, None)
    assert merge_step(state, with_checks(red, step, [GREEN]), None) == RefuseMerge(failed="make")


def test_a_merge_whose_check_was_red_stays_out_if_the_tasks_with_checks_are_removed_meanwhile() -> None:
    red = with_checks(FOUND, CheckMerge(("make",), 7, TREE), [RED])
    assert merge_step(project(), red, None) == RefuseMerge(failed="make")


def test_a_conflict_is_refused_and_the_same_two_commits_are_left_alone_then() -> None:
    state, conflict = project("make"), replace(FOUND, built=Merge(None, ("a.txt",)))
    assert merge_step(state, conflict, None) == RefuseMerge(("a.txt",))
    assert merge_step(state, conflict, conflict) is None
    moved = replace(conflict, theirs=Commit("newer"))
    assert merge_step(state, moved, conflict) == RefuseMerge(("a.txt",))
