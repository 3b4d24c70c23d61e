"""Evidence in words: what is known of a change, and what is missing."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from interlock.model.canary import CanaryResult
from interlock.model.evidence import Evidence, Gap, Grade
from interlock.ui.plain import counted, listed, one_line, shortened

if TYPE_CHECKING:  # every command that shows a task comes by here, and none of them runs checks
    from interlock.verify.wrong_copy import WrongCopy

NAMED, NAME_CHARS = 3, 60
"""The most tests or files that a line names, and the most characters of each; `show --json` has more."""
_GAPS = {
    Gap.UNCHECKED: "not checked yet",
    Gap.NO_CHECKS: "no check covers it",
    Gap.RED_ON_MAIN: "{} fails on main too",
    Gap.UNREAD: "the checks never read {}",
    Gap.TESTS_REMOVED: "it removes tests that no report counts ({})",
    Gap.BLIND: "the checks still passed with {} broken on purpose",
    Gap.ONLY_BUILT: "only a compiler or a linter failed with {} broken on purpose",
}


def landed_text(commit: str, evidence: Evidence) -> str:
    """The landing of a change. A change without a covering check never reads as if it had passed one."""
    if evidence.is_verified:
        return f"landed as {commit}, verified{known_text(evidence)}"
    return f"landed as {commit}, {evidence_text(evidence)}"


def evidence_text(evidence: Evidence | None) -> str:
    if evidence is None:
        return "none yet"
    if evidence.is_verified:
        return f"verified on the merged tree{known_text(evidence)}"
    return ", ".join(filter(None, (evidence.grade.value, gap_text(evidence)))) + _steering(evidence)


def known_text(evidence: Evidence) -> str:
    """The failures known from main; empty if there are none."""
    known = evidence.known_failures
    failing = f" except {counted(known, 'known failing test')} of main" if known else ""
    untried = ", checks not tested on broken code" if evidence.untried else ""
    return failing + untried + _steering(evidence)


def steering_text(paths: Sequence[str]) -> str:
    """The note beside a grade if the change edits how its checks run; empty if it does not."""
    named = listed([_name(path) for path in paths], NAMED)
    return f"the change edits how its checks run: {named}" if named else ""


def _steering(evidence: Evidence) -> str:
    return f"; {steering_text(evidence.steering)}" if evidence.steering else ""


def _removed(evidence: Evidence) -> str:
    names = [_name(name) for name in evidence.removed_tests[:NAMED]]
    more = evidence.fewer_tests - len(names)
    return f" ({', '.join(names)}{f' and {more} more' if more else ''})" if names else ""


def gap_text(evidence: Evidence) -> str:
    named = listed([f"`{_name(name)}`" for name in evidence.about], NAMED)
    if evidence.gap is None:
        return "claimed by the agent" if evidence.grade is Grade.CLAIMED else ""
    if evidence.gap is Gap.FEWER_TESTS:
        gone = counted(evidence.fewer_tests, "test")
        passes = "passes" if evidence.fewer_tests == 1 else "pass"
        return f"{gone} of main no longer {passes} in {named}{_removed(evidence)}"
    return _GAPS[evidence.gap].format(named)


def _name(text: str) -> str:
    return shortened(one_line(text), NAME_CHARS)


def canary_text(result: CanaryResult, commands: Sequence[str]) -> str:
    """The result of checks on code that was broken on purpose."""
    checks = " and ".join(f"`{one_line(command)}`" for command in result.noticed_by or commands)
    if result.is_untried:
        if result.given_up:
            return f"{checks} takes too long to run on broken code"
        return f"found no source code to break on purpose, so nothing shows that {checks} tests the project"
    if result.noticed:
        return (
            f"broke {one_line(result.places[-1])} on purpose; "
            f"{checks} failed as it should, in {result.seconds:.1f} s"
        )
    broken = ", then ".join(map(one_line, result.places))
    if result.by_build:
        return (
            f"broke {broken} on purpose; only a compiler or a linter failed, and {checks} ran no broken code"
        )
    return f"broke {broken} on purpose, and {checks} still passed: it does not test this code"


def wrong_copy_text(copy: "WrongCopy") -> str:
    what = "an editable install of another folder" if copy.is_editable else "an installed copy"
    return f"because it imports {one_line(copy.package)} from {one_line(copy.path)}, {what}"


def wrong_copy_fix(copy: "WrongCopy") -> str:
    if copy.is_editable:
        return "use a sandbox that shows the change at the checkout's own path (see `interlock doctor`)"
    return "python -m pip install -e .  (or uv pip install -e .), in the environment that the checks use"


def grades_text(found: Iterable[Evidence]) -> str:
    """Count landings by their grade. Not among the verified: those that edit how their own checks run, and
    those whose checks were not tried by a break."""
    members = list(found)
    good = [one for one in members if one.is_verified]
    steered = sum(bool(one.steering) for one in good)
    untried = sum(one.untried and not one.steering for one in good)
    verified, rest = len(good) - steered - untried, len(members) - len(good)
    counts = {
        f"{verified} verified on the merged tree": verified,
        f"{steered} verified by checks that {'it edits' if steered == 1 else 'they edit'}": steered,
        f"{untried} verified by checks that were not tested on broken code": untried,
        f"{rest} observed": rest,
    }
    if members and rest == len(members):
        return f"{counted(rest, 'change')} observed"
    return ", ".join(text for text, count in counts.items() if count)
