"""Judges the checks of a candidate by their difference to those of the main it is built on.

Rules:
1. What a task promised (`done_when`) must pass. What is green on main must pass.
2. A check that could not run is never excused. If it can run on main, that is held against the candidate.
3. Where a check is red on main, it is judged test by test: no test may fail that does not fail on main, and
   every test that passes on main must pass. So no test can be deleted, skipped or renamed out of the way,
   also not by a change that makes the check green.
4. Such a check must be red in the way it is on main: the same exit status, and beside the report no line that
   main's output does not have. A linter that runs in the same command has no other way to show.
5. Where its report cannot be read, it is excused only if a person allows that (`red_main: allow`).
6. A green check in which no test runs any more, where main has some, is not green. Neither is one in which
   fewer than half as many pass as on a green main. Tests of a green main that no longer pass are named.
7. A check that passed after it edited a file of the change is not green, unless it edits that file on main
   too: lock files, snapshots.
8. An undo may take along the tests that it removes itself. They pass no more, and main's later checks do not
   look for them.
9. A test whose name has numbers, times or digests in it may have others in each run: one new name that is the
   same but for these stands for one that is gone.
10. A green check that counts failed tests without names is not green if it counts more than main: its
   program does not tell by its exit status.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from interlock.model.failure import normalised
from interlock.model.outcome import CheckResult
from interlock.model.suite import RedMain, SuiteResult, Unable
from interlock.model.task import Task

NAMED = 50
"""The most tests that a refusal names."""

Results = Mapping[str, CheckResult]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The checks of one candidate, judged as a difference to its base."""

    checks: tuple[CheckResult, ...]
    """All of them, with what was found; those that fail on the base too are marked."""
    red: tuple[CheckResult, ...] = ()
    """Checks that are held against the candidate."""
    unknown: tuple[str, ...] = ()
    """Failed commands of which it is not known how they end on the base: run them there and judge again."""
    blocked: tuple[CheckResult, ...] = ()
    """Results of checks on the base that leave nothing to judge the candidate by."""

    @property
    def passed(self) -> bool:
        """True if the candidate may land."""
        return not self.red and not self.unknown and not self.blocked


def judge(
    results: Sequence[CheckResult], task: Task, base: Results, last: Results, taken: Collection[str] = ()
) -> Verdict:
    """Hold against the candidate what it promised, what was green before, and what it broke in a red check.

    `base` is how checks end on the very tree it stands on, `last` how they ended when they last ran on main.
    `taken`: tests that an undo removes.
    """
    checks = [_judged(result, task, base, last, taken) for result in results]
    failed = [check for check in checks if not check.passed and not check.red_on_base]
    mine = [check for check in failed if check.command in task.done_when or _is_held(check, base)]
    others = [check.command for check in failed if check not in mine]
    return Verdict(
        tuple(checks),
        tuple(mine),
        tuple(dict.fromkeys(command for command in others if command not in base)),
        tuple(base[command] for command in dict.fromkeys(others) if command in base),
    )


def _judged(
    result: CheckResult, task: Task, base: Results, last: Results, taken: Collection[str]
) -> CheckResult:
    before = base.get(result.command)
    rewrites = before.rewrites if before else ()
    result = replace(result, edited=tuple(path for path in result.edited if path not in rewrites))
    if result.edited:
        return _counted(result)
    if result.passed and (more := _more_failed(result, before or last.get(result.command))):
        return _counted(replace(result, exit_code=1, newly_failing_count=more))
    if result.passed and task.reverts:  # what is undone takes its tests along
        return _counted(result)
    if result.passed:
        return _shrunk(result, before or last.get(result.command))
    if before is None or before.passed or before.unable or result.command in task.done_when:
        return _counted(result)
    if result.unable or task.red_main == RedMain.STRICT:
        return _counted(result)
    if not (before.suite and before.suite.names_failures):
        return replace(result, red_on_base=task.red_main == RedMain.ALLOW)
    return _compared(result, before, before.suite, taken)


def _is_held(check: CheckResult, base: Results) -> bool:
    """Return True if the candidate caused a red check that is not excused."""
    before = base.get(check.command)
    if before is None:
        return False
    missing = check.vanished or check.fewer_passed
    newly = check.newly_failing or check.newly_failing_count
    broke = check.unable or newly or missing or check.unlike_main or check.edited
    return before.passed or (before.unable is None and bool(broke))


def _more_failed(result: CheckResult, before: CheckResult | None) -> int:
    """Return how many more failed tests than main a check counts, where it does not name them."""
    now, was = result.suite, before.suite if before else None
    if now is None or now.failed:
        return 0
    return max(0, now.failed_count - (was.failed_count if was else 0))


def _compared(
    result: CheckResult, before: CheckResult, was: SuiteResult, taken: Collection[str]
) -> CheckResult:
    """A red check beside the same red check on main."""
    now = result.suite or SuiteResult()
    known, had, passes = set(was.failed), set(was.passed), set(now.passed)
    newly = _unlike(
        [name for name in now.failed if name not in known], [*known - set(now.failed)], normalised
    )
    missed = sorted(had - passes - set(newly) - set(taken))
    gone = _unlike(missed, [*passes - had], normalised)
    renamed = tuple(name for name in missed if name not in gone)
    left = tuple(sorted((had & set(taken)) - passes))
    other = _other_reason(result, before, now, was)
    found = replace(
        result,
        newly_failing=tuple(newly[:NAMED]),
        newly_failing_count=len(newly),
        vanished=tuple(gone[:NAMED]),
        vanished_count=len(gone),
        fewer_passed=max(0, was.passed_count - len(left) - now.passed_count),
        unlike_main=bool(other) or not now.names_failures,
        other_reason=other,
    )
    if newly or gone or found.fewer_passed or found.unlike_main:
        return _counted(found)
    gained = tuple(name for name in now.passed if name not in had)
    # main after the landing is not known by names that it had in an earlier run
    return replace(found, red_on_base=True, vanished=(*left, *renamed), suite=replace(now, passed=gained))


def _other_reason(result: CheckResult, before: CheckResult, now: SuiteResult, was: SuiteResult) -> str:
    """Return the reason that the known failing tests do not explain; empty if there is none."""
    # mocha and prove exit with the number of tests that failed.
    counts = result.exit_code == now.failed_count and before.exit_code == was.failed_count
    if result.exit_code != before.exit_code and not counts:
        return f"exit status {result.exit_code}, and {before.exit_code} on main"
    known = set(was.beside)
    return now.flaw or next((line for line in now.beside if line not in known), "")


def _shrunk(result: CheckResult, before: CheckResult | None) -> CheckResult:
    """A green check beside the same check on main: red if it hides what ran there."""
    if _is_emptied(result, before):
        return _counted(replace(result, exit_code=1, unable=Unable.NO_TESTS))
    if before is None or before.unable or not (before.suite and result.suite):
        return _counted(result)
    was, now = before.suite, result.suite
    fewer = max(0, was.passed_count - now.passed_count)
    if before.passed:
        return _thinned(result, was, now, fewer)
    had, has = set(was.passed), set(now.passed)
    gone = _unlike(sorted(had - has), [*has - had], normalised)
    found = _counted(_without(result, gone, fewer))
    return replace(found, exit_code=1) if gone or fewer else found


def _without(result: CheckResult, gone: Sequence[str], fewer: int) -> CheckResult:
    return replace(result, vanished=tuple(gone[:NAMED]), vanished_count=len(gone), fewer_passed=fewer)


def _thinned(result: CheckResult, was: SuiteResult, now: SuiteResult, fewer: int) -> CheckResult:
    """A green check beside a green main. A test that was moved to another file was not removed."""
    found = replace(result, fewer_passed=fewer, main_passed=was.passed_count)
    if was.names_passes and now.names_passes:
        had, has = set(was.passed), set(now.passed)
        gone = [name for name in was.passed if name not in has]
        new = [name for name in now.passed if name not in had]
        removed = _not_moved(gone, new)
        found = _without(found, removed, max(fewer, len(removed)))
        # With all names where one is gone: main after the landing is known by them.
        found = replace(found, suite=replace(now, passed=now.passed if gone else tuple(new), beside=()))
    else:
        found = _counted(found)
    return replace(found, exit_code=1) if 2 * now.passed_count < was.passed_count else found


def _not_moved(gone: Sequence[str], new: Sequence[str]) -> list[str]:
    """The names of which no new one has the same last part (rule 9)."""
    removed = _unlike(gone, new, _title)
    if len(removed) == len(gone):
        return _unlike(gone, new, _plain_title)
    left = _unlike(new, [name for name in gone if name not in removed], _title)
    return _unlike(removed, left, _plain_title)


def _unlike(gone: Sequence[str], new: Sequence[str], form: Callable[[str], str]) -> list[str]:
    """The names that have no partner among the new ones: each of these stands for one of the same form."""
    places = Counter(map(form, new)) if gone else Counter()
    removed = []
    for name in gone:
        if places[form(name)]:
            places[form(name)] -= 1
        else:
            removed.append(name)
    return removed


def _plain_title(name: str) -> str:
    """The title without what differs from run to run."""
    return normalised(_title(name))


def _title(name: str) -> str:
    """The test itself, without its file, class or group: `a/test_x.py::TestY::test_z`, `group > a title`,
    `package.Class test_z`, `test_z (module.Class)`."""
    place, bracket, parameters = name.partition("[")
    *groups, title = re.split(r"::| > | \u203a ", place)
    first, _, rest = title.partition(" (")[0].partition(" ")
    if rest and not groups and re.search(r"[./]", first):
        title = rest
    return f"{title.partition(' (')[0]}{bracket}{parameters}"


def _is_emptied(result: CheckResult, before: CheckResult | None) -> bool:
    """Return True if tests ran on main and none run now. A missing report shows none."""
    had = before.suite.ran if before and before.suite else 0
    return had > 0 and (result.suite is None or result.suite.ran == 0)


def _counted(result: CheckResult) -> CheckResult:
    """Drop the names of passed tests and the lines beside the report: they are no longer compared."""
    suite = result.suite and replace(result.suite, passed=(), failed=result.suite.failed[:NAMED], beside=())
    return replace(result, suite=suite)
