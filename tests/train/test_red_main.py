"""D8: what is looked at on a main that another hand has moved, and what waits for it."""

from interlock.events import facts as f
from interlock.events.main import held
from interlock.model.outcome import CheckResult, Tip
from interlock.model.step import CheckMain, FindCulprit
from interlock.model.suite import Unable
from interlock.model.task import Commit, Task, TaskId, Tree
from interlock.train.red_main import judgement, main_steps
from tests.events.journal import AGENT, Journal

A = TaskId("a")
MOVED = Tip("main", Commit("m1"), Tree("t1"))


def moved(rule: str = "freeze") -> Journal:
    """A change has passed its checks, and then another hand has moved a green main."""
    journal = Journal(Task(A, "do a", AGENT, verify=("make",)))
    journal.tell(f.RunStarted("run", "holder", 1, 3, environment="here", on_red_main=rule))
    journal.tell(f.MainSeen("main", Commit("m0"), Tree("t0")), checked("t0", CheckResult("make", 0)))
    journal.work("a", phases=2)
    journal.tell(f.MainSeen(MOVED.branch, MOVED.commit, MOVED.tree))
    return journal


def checked(tree: str, result: CheckResult) -> f.BaseChecked:
    return f.BaseChecked(Tree(tree), "make", result.exit_code, result=result, environment="here")


def test_a_moved_main_is_checked_first_and_the_tested_change_waits() -> None:
    journal = moved()
    (look,) = main_steps(journal.state)
    assert isinstance(look, CheckMain) and look.commands == ("make",) and held(journal.state) == {A}
    green = checked("t1", CheckResult("make", 0))
    journal.tell(green, *judgement(journal.state, MOVED, [green]))
    assert main_steps(journal.state) == [] and held(journal.state) == set()


def test_on_a_red_main_the_commit_is_searched_from_the_last_good_one() -> None:
    journal = moved()
    red = checked("t1", CheckResult("make", 2))
    facts = judgement(journal.state, MOVED, [red])
    assert facts == [f.MainJudged(MOVED.commit, MOVED.tree, ("make",))]
    journal.tell(red, *facts)
    (look,) = main_steps(journal.state)
    assert isinstance(look, FindCulprit) and (look.good, look.main) == ("m0", "m1")
    journal.tell(f.CulpritFound(MOVED.commit, "make", MOVED.commit))
    assert main_steps(journal.state) == [] and held(journal.state) == {A}


def test_a_commit_that_was_found_before_is_looked_at_again_once_it_may_be_reverted() -> None:
    journal = moved()
    red = checked("t1", CheckResult("make", 2))
    journal.tell(red, *judgement(journal.state, MOVED, [red]), f.CulpritFound(MOVED.commit, "make"))
    journal.tell(f.RunStarted("later", "holder", 1, 3, environment="here", on_red_main="revert"))
    assert main_steps(journal.state) == [FindCulprit(MOVED.commit, Commit("m0"), "make", 900.0)]
    journal.tell(f.CulpritFound(MOVED.commit, "make"))
    assert main_steps(journal.state) == [], "a revert that a person has cancelled is not made again"


def test_trouble_of_the_machine_and_late_results_break_no_main() -> None:
    journal = moved()
    trouble = checked("t1", CheckResult("make", 1, unable=Unable.MACHINE))
    assert judgement(journal.state, MOVED, [trouble]) == [f.MainJudged(MOVED.commit, MOVED.tree)]
    late = Tip("main", Commit("m0"), Tree("t0"))
    assert judgement(journal.state, late, [checked("t0", CheckResult("make", 2))]) == []


def test_by_judge_nothing_is_looked_at_and_nothing_waits() -> None:
    journal = moved("judge")
    assert main_steps(journal.state) == [] and held(journal.state) == set()
