"""A red check on main is looked at twice: what passed once is not known to fail."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from interlock.engine.baseline import MOST_NAMES, Trial, tried_on_main
from interlock.engine.env import Env
from interlock.events.facts import BaseChecked
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import CheckResult, Tip
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import Commit, Tree
from interlock.verify.protocol import CheckOrder

MAIN = Tip("main", Commit("m" * 40), Tree("t"))


@dataclass
class Script:
    """A checker that has its answers ready, one list for each order."""

    answers: list[list[CheckResult]]
    orders: list[CheckOrder] = field(default_factory=list)

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        self.orders.append(order)
        if not self.answers:
            raise EnvironmentProblem("the disk is full")
        return self.answers.pop(0)


@dataclass
class Hands:
    """All that a trial uses of an Env."""

    checker: Script
    is_confined = True

    async def environment(self) -> str:
        return ""


def found(*answers: list[CheckResult], promised: tuple[str, ...] = ()) -> tuple[CheckResult, Script]:
    script = Script(list(answers))
    env = cast(Env, Hands(script))  # the other hands are not touched
    facts = asyncio.run(tried_on_main(env, Trial(MAIN, 9.0, "here"), ("make",), promised))
    checked = [fact for fact in facts if isinstance(fact, BaseChecked)]
    assert all(fact.tree == "t" and fact.environment == "here" for fact in checked)
    assert checked[0].result is not None
    return checked[0].result, script


def red(passed: str, failed: str) -> CheckResult:
    good, bad = tuple(passed.split()), tuple(failed.split())
    return CheckResult("make", 1, suite=SuiteResult(good, bad, len(good), len(bad)))


def test_a_green_check_is_run_once_and_its_tests_are_kept_by_name() -> None:
    result, script = found([CheckResult("make", 0, tail="ok", suite=SuiteResult(("a",), (), 1, 0))])
    assert (len(script.orders), result.suite, result.tail) == (1, SuiteResult(("a",), (), 1, 0), "")


def test_of_very_many_passing_tests_only_the_number_is_kept() -> None:
    many = tuple(str(number) for number in range(MOST_NAMES + 1))
    result, _ = found([CheckResult("make", 0, suite=SuiteResult(many, (), len(many), 0))])
    assert result.suite == SuiteResult((), (), len(many), 0)


def test_only_what_fails_twice_is_known_to_fail() -> None:
    result, _ = found([red("a b", "c d")], [red("a b d", "c")])
    assert result.suite == SuiteResult(("a", "b"), ("c",), 2, 1)


def test_a_main_on_which_every_test_passed_once_counts_as_green() -> None:
    result, _ = found([red("a b", "c")], [red("a c", "b")])
    assert result.passed


def test_what_cannot_run_is_not_run_again() -> None:
    broken = CheckResult("make", 127, unable=Unable.PROGRAM)
    result, script = found([broken])
    assert (result.unable, len(script.orders)) == (Unable.PROGRAM, 1)


def test_a_promise_is_not_run_again_because_it_is_red() -> None:
    _, script = found([CheckResult("make", 0), CheckResult("make a", 1)], promised=("make a",))
    assert len(script.orders) == 1


def test_a_machine_that_does_not_let_it_start_is_named() -> None:
    result, _ = found()
    assert (result.unable, result.about) == (Unable.MACHINE, "the disk is full")


def test_what_the_second_run_could_not_do_counts() -> None:
    slow = replace(red("a", "b"), timed_out=True, unable=Unable.TIMEOUT)
    assert found([red("a", "b")], [slow])[0].unable is Unable.TIMEOUT
