"""Results of checks by what decided them, so that a check is not run again where nothing of that has changed.

Rules:
1. A result counts for one command, one environment and the files that the command could see. It counts for no
   other tree, except one in which these files are the same.
2. Which files of its change a check reads and edits is part of its result. A check that could see none of
   them has the same result for every change.
3. A check that could not run, was stopped, or edited files of the change says nothing about these files.
4. A red check is not excused by an earlier red one: that one only counts as the first of two runs.
5. Where main's tests are known by name, a result counts only if all of its own are: no test may get lost.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.events.baselines import carried_over
from interlock.events.state import State
from interlock.model.outcome import Baseline, CheckKey, CheckResult
from interlock.model.suite import SuiteResult

RESULTS_KEPT = 400
NAMES_KEPT = 3_000
"""The most names of passing tests that are kept of a result. Those that main has too are not among them."""
TIMES_KEPT, COMMANDS_KEPT = 9, 200
"""The most times of green checks that are kept for a command, and the most commands."""


def remember(state: State, checks: Sequence[CheckResult]) -> None:
    """Keep the results of a fact. Each says itself what it depends on."""
    known = state.checks.known
    for check in checks:
        if (key := check.key) and _is_telling(check):
            known.pop(key, None)
            known[key] = _trimmed(state, check)
    while len(known) > RESULTS_KEPT:
        del known[next(iter(known))]


def known_check(state: State, key: CheckKey) -> CheckResult | None:
    """Return the result that a check with this key would have; None: it must run."""
    if same := _on_main(state, key):
        return same
    found = state.checks.known.get(key)
    if found is None or not found.passed:
        return None
    main = state.checks.baselines.get(key.command)
    full = carried_over(main.result if main else None, found)
    names_main = main is not None and main.result.suite is not None and main.result.suite.names_passes
    names_own = full.suite is not None and full.suite.names_passes
    return _reused(full) if names_own or not names_main else None


def was_red(state: State, key: CheckKey) -> CheckResult | None:
    """Return the earlier red result of the same check on the same files (rule 4)."""
    found = state.checks.known.get(key)
    return found if found and not found.passed else None


def has_passed(state: State, check: CheckResult) -> bool:
    """Tell if a check has passed before on the same files in the same environment, with whatever change."""
    same = (check.command, check.environment, check.saw)
    return check.key is not None and any(
        found.passed and (key.command, key.environment, key.saw) == same
        for key, found in state.checks.known.items()
    )


def _on_main(state: State, key: CheckKey) -> CheckResult | None:
    """Return main's own result, if the change has nothing in it that the check could see (rule 2)."""
    found = state.checks.baselines.get(key.command)
    if found is None or key.change or not _is_telling(found.result):
        return None
    if not found.result.passed and not _is_known_red(state, found):
        return None
    if (found.result.environment, found.result.saw) != (key.environment, key.saw):
        return None
    return _reused(found.result)


def _is_known_red(state: State, found: Baseline) -> bool:
    """A red check of main was run twice, and its failing tests are named: a change is judged by them."""
    is_own = state.run is not None and found.run == state.run.run
    return is_own and found.result.suite is not None and found.result.suite.names_failures


def _is_telling(check: CheckResult) -> bool:
    """Rule 3; a green check that was judged red by its tests is no red one on another tree."""
    if check.unable or check.timed_out or check.usual_seconds or check.edited:
        return False
    return check.passed or not (check.red_on_base or check.vanished_count or check.fewer_passed)


def _reused(found: CheckResult) -> CheckResult:
    """Return the result without the findings of a comparison with main: it is compared again."""
    return replace(
        found, reused=True, rewrites=(), vanished=(), vanished_count=0, fewer_passed=0, main_passed=0
    )


def _trimmed(state: State, check: CheckResult) -> CheckResult:
    suite = check.suite and _new_names(state, check, check.suite)
    return replace(check, tail="", suite=suite)


def _new_names(state: State, check: CheckResult, suite: SuiteResult) -> SuiteResult:
    """Keep the names of the passed tests that main does not have, or of all if one of main is gone."""
    if not check.passed:
        return replace(suite, passed=(), failed=(), beside=())
    main = state.checks.baselines.get(check.command)
    had = set(main.result.suite.passed if main and main.result.suite else ())
    if had <= set(suite.passed):
        suite = replace(suite, passed=tuple(name for name in suite.passed if name not in had))
    return suite if len(suite.passed) <= NAMES_KEPT else replace(suite, passed=())


def note_times(times: dict[str, tuple[float, ...]], checks: Sequence[CheckResult]) -> None:
    """Note the times of green checks only: one that fails may do so before it has begun."""
    for check in checks:
        if check.passed and check.seconds > 0 and not check.reused:
            before = times.pop(check.command, ())
            times[check.command] = (*before, check.seconds)[-TIMES_KEPT:]
    while len(times) > COMMANDS_KEPT:
        del times[next(iter(times))]
