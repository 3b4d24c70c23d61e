"""What the log knows of checks on main: what holds tasks back, and what must be tried before they start."""

import pytest

from interlock.events import facts as f
from interlock.events.baselines import known_failures, obstacle, on_main, unseen
from interlock.events.fold import fold
from interlock.events.record import GENESIS, seal
from interlock.events.state import State, TaskState
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import Agent, Commit, Task, TaskId, Tree

TASK = Task(TaskId("a"), "do it", Agent("x", "command"), verify=("make",), done_when=("make a",))
WAITING = TaskState(TASK)
T0, T1 = Tree("t0"), Tree("t1")
GREEN = CheckResult("make", 0, suite=SuiteResult((), (), 3, 0))
RED = CheckResult("make", 1, suite=SuiteResult(("p", "q"), ("r",), 2, 1))
UNREAD = CheckResult("make", 1)
TYPO = CheckResult("make", 127, unable=Unable.PROGRAM, about="make")
PROMISE = CheckResult("make a", 1)


def state_of(*facts: f.Fact) -> State:
    rows, last = [], GENESIS
    for seq, fact in enumerate((*opening(), *facts), start=1):
        rows.append(seal(last, seq, float(seq), "test", fact))
        last = rows[-1].hash
    return fold(rows)


def opening() -> tuple[f.Fact, ...]:
    return f.TaskAccepted(TASK), run("one"), f.MainSeen("main", Commit("m0"), T0)


def run(name: str, environment: str = "here") -> f.RunStarted:
    return f.RunStarted(name, "h", 1, 2, environment=environment)


def tried(result: CheckResult, tree: Tree = T0, environment: str = "here") -> f.BaseChecked:
    return f.BaseChecked(tree, result.command, result.exit_code, result=result, environment=environment)


def test_before_anything_was_tried_every_check_is_unseen() -> None:
    assert unseen(state_of(), TASK) == ["make", "make a"]
    assert obstacle(state_of(), WAITING) is None


def test_a_run_that_does_not_say_where_it_is_tries_nothing() -> None:
    assert unseen(state_of(run("two", environment="")), TASK) == []


def test_what_was_tried_need_not_be_tried_again_in_the_same_place() -> None:
    seen = [tried(GREEN), tried(PROMISE)]
    assert unseen(state_of(*seen), TASK) == []
    assert unseen(state_of(*seen, run("two")), TASK) == []
    assert unseen(state_of(*seen, run("two", environment="elsewhere")), TASK) == ["make", "make a"]


def test_somebody_elses_commit_makes_only_the_next_run_try_again() -> None:
    moved = [tried(GREEN), tried(PROMISE), f.MainSeen("main", Commit("m1"), T1)]
    assert unseen(state_of(*moved), TASK) == []
    assert on_main(state_of(*moved), TASK, "make", T1) is None
    assert unseen(state_of(*moved, run("two")), TASK) == ["make", "make a"]


@pytest.mark.parametrize("result", [TYPO, UNREAD])
def test_what_holds_a_task_back_is_tried_again_by_the_next_run_or_on_another_main(
    result: CheckResult,
) -> None:
    held = [tried(result), tried(PROMISE)]
    assert obstacle(state_of(*held), WAITING) == result and unseen(state_of(*held), TASK) == []
    for news in (run("two"), f.MainSeen("main", Commit("m1"), T1)):
        state = state_of(*held, news)
        assert obstacle(state, WAITING) is None and unseen(state, TASK) == ["make"]
    assert on_main(state_of(*held), TASK, "make", T0) == result
    assert on_main(state_of(*held, run("two")), TASK, "make", T0) is None


def test_known_failing_tests_of_an_earlier_run_are_still_known() -> None:
    assert on_main(state_of(tried(RED), run("two")), TASK, "make", T0) == RED


def test_known_failing_tests_hold_nothing_back() -> None:
    state = state_of(tried(RED), tried(PROMISE))
    assert obstacle(state, WAITING) is None
    assert list(known_failures(state)) == ["make"], "a promise is no failure of main"


@pytest.mark.parametrize(
    ("cause", "about", "is_held"),
    [
        (Unable.PROGRAM, "pytset", True),
        (Unable.PROGRAM, "./new.sh", False),
        (Unable.MODULE, "pytest", True),
        (Unable.MODULE, "newmodule", False),
        (Unable.PATH, "tests/new.py", False),
        (Unable.TIMEOUT, "", True),
        (Unable.NETWORK, "", True),
    ],
)
def test_a_promise_holds_its_task_back_only_if_no_change_could_mend_it(
    cause: Unable, about: str, is_held: bool
) -> None:
    promise = CheckResult("make a", 1, unable=cause, about=about)
    assert bool(obstacle(state_of(tried(GREEN), tried(promise)), WAITING)) == is_held


def test_a_fact_of_an_older_version_folds_and_counts_for_nothing() -> None:
    state = state_of(f.BaseChecked(T0, "make", 1, "red"))
    assert not state.checks.baselines and unseen(state, TASK) == ["make", "make a"]


def test_a_landing_carries_over_to_main_what_its_checks_showed() -> None:
    key = (TaskId("a"), 1)
    excused = CheckResult("make", 1, red_on_base=True, suite=SuiteResult(("new",), ("r",), 3, 1))
    state = state_of(
        tried(RED),
        f.PhaseStarted(*key, "implement", 1, holder="h"),
        f.WorkFinished(*key, "implement", 1, commit=Commit("w")),
        f.PhaseStarted(*key, "verify", 2, holder="h"),
        f.CandidatePassed(
            *key, "verify", 2, base=Commit("m0"), commit=Commit("c"), tree=T1, checks=(excused,)
        ),
        f.PhaseStarted(*key, "land", 3, holder="h"),
        f.Landed(*key, "land", 3, base=Commit("m0"), commit=Commit("c"), tree=T1),
        f.MainSeen("main", Commit("c"), T1),
    )
    found = on_main(state, TASK, "make", T1)
    assert found and found.suite == SuiteResult(("p", "q", "new"), ("r",), 3, 1)
