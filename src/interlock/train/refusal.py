"""The end of a red check in words: its exit status, or the tests that it was refused for."""

from collections.abc import Sequence

from interlock.model.outcome import CheckResult
from interlock.model.suite import Unable

NAMED = 3
"""The most tests that a summary names."""


def refusal(check: CheckResult, in_full: bool = False) -> str:
    """Say how a red check ended, as the rest of a sentence about its command."""
    if check.unable is Unable.NO_TESTS:
        flaw = _unread(check)
        return f"does not show that any test ran{flaw}" if flaw else "ran no tests"
    how = check.how
    if check.timed_out:
        return how
    if check.unable is Unable.SETUP:
        return f"was not started: the set-up `{check.about}` {how}"
    if check.unable:
        return f"cannot run any more ({how})"
    parts = [
        _listed(
            "fails tests that do not fail on main", check.newly_failing, check.newly_failing_count, in_full
        ),
        _listed("did not pass tests that pass on main", check.vanished, check.vanished_count, in_full),
        f"passed {check.fewer_passed} fewer tests than main" if _is_only_counted(check) else "",
        f"keeps fewer than half of the {check.main_passed} tests of main{_unread(check)}"
        if check.main_passed
        else "",
        f"failed for another reason than on main{_because(check)}" if check.unlike_main else "",
    ]
    return " and ".join(part for part in parts if part) or how


def _because(check: CheckResult) -> str:
    return f": {check.other_reason}" if check.other_reason else ""


def _unread(check: CheckResult) -> str:
    return f": {check.suite.flaw}" if check.suite and check.suite.flaw else ""


def _is_only_counted(check: CheckResult) -> bool:
    return check.fewer_passed > 0 and not check.newly_failing and not check.vanished


def _listed(what: str, names: Sequence[str], count: int, in_full: bool) -> str:
    shown = names if in_full else names[:NAMED]
    left = max(count, len(names)) - len(shown)
    more = f" and {left} more" if left else ""
    return f"{what} ({', '.join(shown)}{more})" if names else ""
