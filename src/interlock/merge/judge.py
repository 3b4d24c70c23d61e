"""What the checks of a candidate say about it, and not about the main it stands on.

Rules:
1. What a task promised (`done_when`) must pass. What is green on main must pass.
2. A check that could not run is never excused. If it can run on main, that is held against the candidate.
3. Where a check is red on main too, it is judged test by test: no test may fail that does not fail on main,
   and every test that passes on main must pass. So no test can be deleted, skipped or renamed out of the way.
4. Where its report cannot be read, it is excused only if a person allows that (`red_main: allow`).
5. A green check in which no test runs any more, where main has some, is not green.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from interlock.model.outcome import CheckResult
from interlock.model.suite import RedMain, SuiteResult, Unable
from interlock.model.task import Task

SIGNALLED = 128
"""A shell reports the signal that ended a program above this."""
NAMED = 50
"""How many tests a refusal names."""

Results = Mapping[str, CheckResult]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The checks of one candidate, judged as a difference to its base."""

    checks: tuple[CheckResult, ...]
    """All of them, with what was found; those that fail on the base too are marked."""
    red: tuple[CheckResult, ...] = ()
    """Those that are held against the candidate."""
    unknown: tuple[str, ...] = ()
    """Failed commands of which it is not known how they end on the base: run them there and judge again."""
    blocked: tuple[CheckResult, ...] = ()
    """How checks end on the base, where that leaves nothing to judge the candidate by."""

    @property
    def passed(self) -> bool:
        """May the candidate land."""
        return not self.red and not self.unknown and not self.blocked


def judge(results: Sequence[CheckResult], task: Task, base: Results, last: Results) -> Verdict:
    """Hold against the candidate what it promised, what was green before, and what it broke in a red check.

    `base` is how checks end on the very tree it stands on, `last` how they ended when they last ran on main.
    """
    checks = [_judged(result, task, base, last) for result in results]
    failed = [check for check in checks if not check.passed and not check.red_on_base]
    mine = [check for check in failed if check.command in task.done_when or _is_held(check, base)]
    others = [check.command for check in failed if check not in mine]
    return Verdict(
        tuple(checks),
        tuple(mine),
        tuple(dict.fromkeys(command for command in others if command not in base)),
        tuple(base[command] for command in dict.fromkeys(others) if command in base),
    )


def _judged(result: CheckResult, task: Task, base: Results, last: Results) -> CheckResult:
    before = base.get(result.command)
    if result.passed:
        is_empty = _is_emptied(result, before or last.get(result.command))
        return (
            replace(_counted(result), exit_code=1, unable=Unable.NO_TESTS) if is_empty else _counted(result)
        )
    if before is None or before.passed or before.unable or result.command in task.done_when:
        return _counted(result)
    if result.unable or task.red_main == RedMain.STRICT:
        return _counted(result)
    if not (before.suite and before.suite.names_failures):
        return replace(result, red_on_base=task.red_main == RedMain.ALLOW)
    return _compared(result, before, before.suite)


def _is_held(check: CheckResult, base: Results) -> bool:
    """Is a red check that is not excused the candidate's own doing."""
    before = base.get(check.command)
    if before is None:
        return False
    broke = check.unable or check.newly_failing or check.vanished or check.fewer_passed or check.unlike_main
    return before.passed or (before.unable is None and bool(broke))


def _compared(result: CheckResult, before: CheckResult, was: SuiteResult) -> CheckResult:
    """A red check beside the same red check on main."""
    now = result.suite or SuiteResult()
    known, had, passes = set(was.failed), set(was.passed), set(now.passed)
    newly = [name for name in now.failed if name not in known]
    gone = sorted(had - passes - set(newly))
    crashed = result.exit_code > SIGNALLED and result.exit_code != before.exit_code
    found = replace(
        result,
        newly_failing=tuple(newly[:NAMED]),
        vanished=tuple(gone[:NAMED]),
        fewer_passed=max(0, was.passed_count - now.passed_count),
        unlike_main=crashed or not now.names_failures,
    )
    if newly or gone or found.fewer_passed or found.unlike_main:
        return _counted(found)
    gained = tuple(name for name in now.passed if name not in had)
    return replace(found, red_on_base=True, suite=replace(now, passed=gained))


def _is_emptied(result: CheckResult, before: CheckResult | None) -> bool:
    """Did tests run on main, and none now. A report that is gone shows none."""
    had = before.suite.ran if before and before.suite else 0
    return had > 0 and (result.suite is None or result.suite.ran == 0)


def _counted(result: CheckResult) -> CheckResult:
    """Without the names of the tests that passed: they are not compared any more."""
    suite = result.suite
    return replace(result, suite=replace(suite, passed=(), failed=suite.failed[:NAMED])) if suite else result
