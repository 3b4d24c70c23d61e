"""The reason for which a red check refuses a change: its exit status, or the tests it was refused for."""

from interlock.model.failure_words import check_ending
from interlock.model.outcome import CheckResult, Unresolved
from interlock.model.reason import Reason, Value, Why

NAMED = 3
"""The most tests that a reason names."""


def check_failed(check: CheckResult, others: int = 0, named: int | None = NAMED) -> Reason:
    """Return the reason of a failure by a red check; `others` are red beside it."""
    found: dict[str, Value] = {
        "timed_out": check.timed_out,
        "seconds": check.seconds if check.usual_seconds else 0.0,
        "usual_seconds": check.usual_seconds,
        "unable": check.unable.value if check.unable else "",
        "about": check.about,
        "flaw": check.suite.flaw if check.suite else "",
        "newly_failing": check.newly_failing[:named],
        "newly_failing_count": max(check.newly_failing_count, len(check.newly_failing)),
        "vanished": check.vanished[:named],
        "vanished_count": max(check.vanished_count, len(check.vanished)),
        "fewer_passed": check.fewer_passed,
        "main_passed": check.main_passed,
        "unlike_main": check.unlike_main,
        "other_reason": check.other_reason,
        "edited": check.edited[:named],
        "others": others,
    }
    known = {name: value for name, value in found.items() if value}
    return Reason(Why.CHECK_FAILED, {"command": check.command, "exit_code": check.exit_code, **known})


def unresolved_reason(conflict: Reason, tried: Unresolved) -> Reason:
    """Add to the reason of a conflict the command that was to resolve it, and what was wrong with that."""
    result = tried.result
    more: dict[str, Value] = {
        "obstacle": tried.obstacle.value,
        "path": tried.path,
        "timed_out": result.timed_out,
        "unable": result.unable.value if result.unable else "",
        "about": result.about,
    }
    known = {name: value for name, value in more.items() if value}
    fields = {"command": result.command, "exit_code": result.exit_code, **known}
    return Reason(conflict.code, {**conflict.fields, **fields})


def refusal(check: CheckResult, in_full: bool = False) -> str:
    """Say how a red check ended, as the rest of a sentence about its command."""
    return check_ending(check_failed(check, named=None if in_full else NAMED))
