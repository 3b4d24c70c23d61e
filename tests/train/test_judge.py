"""What the checks of a candidate say about it: judged against main, test by test where main is red (D7)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.evidence import Gap, weigh
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import Agent, Task, TaskId
from interlock.train import Verdict, judge, refusal

GREEN, RED = CheckResult("make", 0), CheckResult("make", 2)
TASK = Task(TaskId("a"), "do it", Agent("x", "command"), verify=("make",))
PROMISED = replace(TASK, done_when=("make",))


def suite(passed: str, failed: str = "") -> SuiteResult:
    return SuiteResult(tuple(passed.split()), tuple(failed.split()), len(passed.split()), len(failed.split()))


def ran(passed: str, failed: str = "", exit_code: int = 1) -> CheckResult:
    return CheckResult("make", exit_code if failed else 0, suite=suite(passed, failed))


def against(main: CheckResult | None, result: CheckResult, task: Task = TASK) -> Verdict:
    known = {main.command: main} if main else {}
    return judge([result], task, known, known)


def test_a_green_check_needs_no_base() -> None:
    verdict = against(None, GREEN)
    assert verdict.passed and verdict.checks == (GREEN,)


def test_a_red_check_that_is_green_on_main_is_held_against_the_candidate() -> None:
    assert against(GREEN, RED).red == (RED,)


def test_a_red_check_that_is_unknown_on_main_must_be_run_there() -> None:
    verdict = against(None, RED)
    assert verdict.unknown == ("make",) and not verdict.red and not verdict.passed


def test_what_the_task_promised_is_never_excused() -> None:
    verdict = against(ran("a", "b"), ran("a", "b"), PROMISED)
    assert len(verdict.red) == 1 and not verdict.checks[0].red_on_base


def test_a_known_failing_test_is_counted_and_excused() -> None:
    verdict = against(ran("a b", "c"), ran("a b new", "c"))
    assert verdict.passed and verdict.checks[0].red_on_base
    assert verdict.checks[0].suite == SuiteResult(("new",), ("c",), 3, 1), "only what main did not have"


def test_a_change_that_mends_a_known_failure_passes() -> None:
    assert against(ran("a", "b c"), ran("a b", "c")).passed
    assert against(ran("a", "b"), ran("a b")).passed


def test_a_test_that_fails_only_with_the_change_is_held_against_it() -> None:
    verdict = against(ran("a b", "c"), ran("a", "b c"))
    assert not verdict.passed and verdict.red[0].newly_failing == ("b",) and not verdict.red[0].vanished


def test_a_refusal_says_how_many_tests_it_is_about_however_many_it_names() -> None:
    """50 names are kept, and "and 47 more" was said of 57."""
    many = " ".join(f"t{number}" for number in range(60))
    newly = against(ran("", "known"), ran("", f"known {many}")).red[0]
    assert refusal(newly) == "fails tests that do not fail on main (t0, t1, t2 and 57 more)"
    assert refusal(newly, in_full=True).endswith("t49 and 10 more)")
    gone = against(ran(many, "known"), ran("new", "known")).red[0]
    assert refusal(gone) == "did not pass tests that pass on main (t0, t1, t10 and 57 more)"
    hidden = against(ran(many, "known"), ran("new")).red[0]
    assert refusal(hidden) == "did not pass tests that pass on main (t0, t1, t10 and 57 more)"


@pytest.mark.parametrize("now", ["a", "a renamed"])
def test_a_test_that_passes_on_main_may_not_vanish(now: str) -> None:
    verdict = against(ran("a b", "c"), ran(now, "c"))
    assert not verdict.passed and verdict.red[0].vanished == ("b",)


@pytest.mark.parametrize("now", ["a c", "a c renamed"])
def test_a_change_that_turns_main_green_may_not_lose_tests_either(now: str) -> None:
    verdict = against(ran("a b", "c"), ran(now))
    assert not verdict.passed and verdict.red[0].vanished == ("b",)
    unsure = judge([ran(now)], TASK, {}, {"make": ran("a b", "c")})
    assert unsure.unknown == ("make",), "main may have moved since: it is tried again"


def test_a_change_that_turns_main_green_may_not_pass_fewer_tests() -> None:
    main = replace(RED, suite=SuiteResult((), ("c",), 30, 1))
    assert against(main, replace(GREEN, suite=SuiteResult((), (), 2, 0))).red[0].fewer_passed == 28
    assert against(main, replace(GREEN, suite=SuiteResult((), (), 31, 0))).passed


def test_a_line_beside_the_report_that_main_does_not_have_is_another_reason() -> None:
    def beside(*lines: str) -> CheckResult:
        result = ran("a", "b")
        return replace(result, suite=result.suite and replace(result.suite, beside=lines))

    assert against(beside("make: ***", "note"), beside("make: ***")).passed
    verdict = against(beside("make: ***"), beside("make: ***", "x.py: F401"))
    assert verdict.red[0].unlike_main and verdict.red[0].other_reason == "x.py: F401"


def test_another_exit_status_is_another_reason_unless_it_counts_the_failures() -> None:
    assert against(ran("a", "b"), ran("a", "b", exit_code=2)).red[0].unlike_main
    assert against(ran("a", "b c", exit_code=2), ran("a b", "c", exit_code=1)).passed, "as mocha does"


def test_a_report_that_does_not_account_for_the_red_blocks_or_is_refused() -> None:
    flawed = ran("a", "b")
    flawed = replace(flawed, suite=flawed.suite and replace(flawed.suite, flaw="it stopped early"))
    assert against(flawed, ran("a", "b")).blocked
    assert against(ran("a", "b"), flawed).red[0].other_reason == "it stopped early"


def test_removed_tests_of_a_green_main_are_named_and_land() -> None:
    verdict = against(ran("a b c d e"), ran("a b c new more"))
    assert verdict.passed and verdict.checks[0].vanished == ("d", "e")
    worth = weigh(verdict.checks)
    assert (worth.gap, worth.fewer_tests, worth.removed_tests) == (Gap.FEWER_TESTS, 2, ("d", "e"))


def test_fewer_than_half_of_the_tests_of_a_green_main_are_refused() -> None:
    assert against(ran("a b c d"), ran("a b")).passed
    verdict = against(ran("a b c d e"), ran("a new"))
    assert verdict.red[0].vanished == ("b", "c", "d", "e") and verdict.red[0].main_passed == 5
    main, now = (replace(GREEN, suite=SuiteResult((), (), count, 0)) for count in (30, 14))
    assert against(main, now).red[0].fewer_passed == 16, "where they are only counted, too"


def test_tests_exchanged_for_others_are_not_verified() -> None:
    worth = weigh(against(ran("a b c"), ran("x y z")).checks)
    assert (worth.gap, worth.fewer_tests) == (Gap.FEWER_TESTS, 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tests/test_x.py::T::test_a tests/test_x.py::test_b", "t/x_test.py::T::test_a t/x_test.py::test_b"),
        ("mod.Old.test_a pkg.test_b", "mod.Old.test_a pkg.test_b"),
    ],
)
def test_a_moved_test_is_not_removed(before: str, after: str) -> None:
    verdict = against(ran(before), ran(after))
    assert verdict.passed and not verdict.checks[0].vanished and not verdict.checks[0].fewer_passed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("knows the edge of a square", "likes a square"),
        ("shape > knows a square", "shape > likes a square"),
        ("test_x.py::test_a[a/b]", "test_x.py::test_b[b/b]"),
        ("pkg/shapes TestArea", "pkg/shapes TestEdge"),
    ],
)
def test_another_test_with_the_same_last_word_stands_for_none(before: str, after: str) -> None:
    main, now = (
        replace(GREEN, suite=SuiteResult(names, (), 3, 0))
        for names in (("x", "y", before), ("x", "y", after))
    )
    assert against(main, now).checks[0].vanished == (before,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("one.test.js > add > adds two", "two.test.js > add > adds two"),
        ("a.B test_x", "c.D test_x"),
        ("test_x (a.B)", "test_x (c.D)"),
    ],
)
def test_a_test_with_words_in_its_title_may_move(before: str, after: str) -> None:
    main, now = (replace(GREEN, suite=SuiteResult(names, (), 1, 0)) for names in ((before,), (after,)))
    assert against(main, now).checks[0].vanished == ()


def test_one_new_test_does_not_stand_for_two_of_the_same_title() -> None:
    assert against(ran("a::t b::t c::u"), ran("d::t c::u")).checks[0].vanished == ("b::t",)


RANDOM = 'is a number > 0.3481 takes "2026-11-19T22:27:34.509Z" and 9f3c2ab7d1', "counts 17951272"
AGAIN = 'is a number > 0.07 takes "2026-11-19T22:29:01.001Z" and 01bd77c9e2', "counts 17959911"


def named(passed: tuple[str, ...], failed: tuple[str, ...] = ()) -> CheckResult:
    found = SuiteResult(passed, failed, len(passed), len(failed))
    return CheckResult("make", 1 if failed else 0, suite=found)


@pytest.mark.parametrize("failed", [(), ("known 5",)], ids=["green main", "red main"])
@pytest.mark.parametrize("fixed", [(), ("known 6",)], ids=["green", "red"])
def test_a_name_with_other_numbers_in_each_run_is_not_removed(
    failed: tuple[str, ...], fixed: tuple[str, ...]
) -> None:
    verdict = against(named(("a", *RANDOM), failed), named(("a", *AGAIN), fixed if failed else ()))
    assert verdict.passed and not verdict.checks[0].vanished_count and not verdict.checks[0].fewer_passed
    assert weigh(verdict.checks).is_verified


@pytest.mark.parametrize("failed", [(), ("known",)], ids=["green main", "red main"])
def test_one_name_with_other_numbers_stands_for_one_that_is_gone(failed: tuple[str, ...]) -> None:
    main, now = named(("a", "case 1", "case 2", "t1"), failed), named(("a", "case 3", "t2", "b"), failed)
    (check,) = against(main, now).checks
    assert check.vanished == ("case 2", "t1")
    assert against(main, now).passed is not bool(failed)


def test_a_known_failing_test_may_vanish() -> None:
    assert against(ran("a", "b c"), ran("a", "c")).passed


def test_where_tests_are_only_counted_none_may_be_missing() -> None:
    main = replace(RED, suite=SuiteResult((), ("c",), 30, 1))
    fewer, more = (replace(RED, suite=SuiteResult((), ("c",), count, 1)) for count in (29, 31))
    assert against(main, fewer).red[0].fewer_passed == 1
    assert against(main, more).passed


@pytest.mark.parametrize(
    "result",
    [
        RED,
        replace(RED, suite=suite("a b")),
        ran("a b", "c", exit_code=139),
        replace(RED, suite=SuiteResult(("a", "b"), ("c",), 2, 2)),
    ],
    ids=["no report", "no failing test", "crash", "a failure without a name"],
)
def test_red_for_another_reason_than_on_main_is_held_against_the_candidate(result: CheckResult) -> None:
    assert against(ran("a b", "c"), result).red


@pytest.mark.parametrize("policy", ["strict", "baseline", "allow"])
@pytest.mark.parametrize("cause", list(Unable))
def test_what_could_not_run_is_never_excused(policy: str, cause: Unable) -> None:
    task, broken = replace(TASK, red_main=policy), replace(RED, unable=cause)
    for main in (GREEN, ran("a", "b"), RED, broken):
        assert not against(main, broken, task).passed
    assert against(GREEN, broken, task).red, "main can run it"
    assert against(broken, broken, task).blocked, "so cannot main: that is not the candidate's doing"
    assert against(broken, RED, task).blocked


def test_a_red_check_without_a_report_is_excused_only_if_a_person_allows_it() -> None:
    assert against(RED, RED).blocked == (RED,)
    allowed = against(RED, RED, replace(TASK, red_main="allow"))
    assert allowed.passed and allowed.checks[0].red_on_base


def test_a_strict_task_does_not_land_on_a_red_main() -> None:
    strict = replace(TASK, red_main="strict")
    assert against(ran("a", "b"), ran("a", "b"), strict).blocked
    assert against(ran("a", "b"), ran("a b"), strict).passed


@pytest.mark.parametrize("result", [GREEN, replace(GREEN, suite=SuiteResult())])
def test_a_green_check_that_runs_no_tests_any_more_is_red(result: CheckResult) -> None:
    verdict = against(ran("a b"), result)
    assert verdict.red and verdict.red[0].unable is Unable.NO_TESTS
    assert against(GREEN, result).passed, "main has none either"


CODES = st.sampled_from([0, 1, 2, 139])
NAMES = st.frozensets(st.sampled_from("abcde"))


@st.composite
def results(draw: st.DrawFn) -> CheckResult:
    code, unread = draw(CODES), draw(st.booleans())
    passed, failed = draw(NAMES), draw(NAMES)
    passed -= failed
    names = suite(" ".join(sorted(passed)), " ".join(sorted(failed)))
    cause = draw(st.sampled_from([None, None, Unable.PROGRAM])) if code else None
    return CheckResult("make", code, suite=None if unread else names, unable=cause)


@pytest.mark.property
@given(results(), results(), st.sampled_from(["strict", "baseline", "allow"]))
def test_no_excuse_hides_what_main_did_not_have(main: CheckResult, now: CheckResult, policy: str) -> None:
    verdict = against(main, now, replace(TASK, red_main=policy))
    if not verdict.passed or now.passed:
        return
    assert not now.unable and not main.unable and not main.passed
    if main.suite and main.suite.names_failures:
        assert now.suite and set(now.suite.failed) <= set(main.suite.failed)
        assert set(now.suite.passed) >= set(main.suite.passed)
    else:
        assert policy == "allow"


@pytest.mark.property
@given(st.lists(results(), max_size=3), st.booleans())
def test_once_main_is_known_nothing_is_unknown(found: list[CheckResult], promised: bool) -> None:
    checks = [replace(check, command=f"make {number}") for number, check in enumerate(found)]
    commands = tuple(check.command for check in checks)
    task = replace(TASK, verify=commands, done_when=commands[:1] if promised else ())
    first = judge(checks, task, {}, {})
    second = judge(checks, task, {command: replace(RED, command=command) for command in first.unknown}, {})
    assert not second.unknown
    assert all(command not in task.done_when for command in first.unknown)
