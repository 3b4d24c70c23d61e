"""Evidence in words: what is known of a change, and what is missing."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from interlock.model.canary import CanaryResult
from interlock.model.evidence import Evidence, Gap, Grade
from interlock.ui.plain import counted, inert

if TYPE_CHECKING:  # every command that shows a task comes by here, and none of them runs checks
    from interlock.verify.wrong_copy import WrongCopy

NAMED = 8
"""The most tests or files that a line names; `show --json` has more."""
_GAPS = {
    Gap.UNCHECKED: "not checked yet",
    Gap.NO_CHECKS: "no check covers it",
    Gap.RED_ON_MAIN: "{} fails on main too",
    Gap.UNREAD: "the checks never read {}",
    Gap.TESTS_REMOVED: "it removes tests that no report counts ({})",
    Gap.BLIND: "the checks stayed green with {} broken on purpose",
    Gap.ONLY_BUILT: "only a compiler or a linter noticed {} broken on purpose",
}


def landed_text(commit: str, evidence: Evidence) -> str:
    """How a change landed. Without a check that covers it, never as if it had passed one."""
    if evidence.is_verified:
        return f"landed as {commit}, verified{known_text(evidence)}"
    return f"landed (unverified) as {commit}, {gap_text(evidence)}{_steering(evidence)}"


def evidence_text(evidence: Evidence | None) -> str:
    """The grade and what it stands on, in one line."""
    if evidence is None:
        return "none yet"
    if evidence.is_verified:
        return f"verified on the merged tree{known_text(evidence)}"
    return ", ".join(filter(None, (evidence.grade.value, gap_text(evidence)))) + _steering(evidence)


def known_text(evidence: Evidence) -> str:
    """What fails as it does on main, and how many fewer tests pass; empty if all is as it should be."""
    known, fewer = evidence.known_failures, evidence.fewer_tests
    failing = f" but for {counted(known, 'known failing test')} of main" if known else ""
    less = f", without {counted(fewer, 'test')} of main{_removed(evidence)}" if fewer else ""
    untried = ", checks not tried by a break" if evidence.untried else ""
    return failing + less + untried + _steering(evidence)


def _steering(evidence: Evidence) -> str:
    """The files of the change that decide how its checks run."""
    names = [inert(name) for name in evidence.steering[:NAMED]]
    more = len(evidence.steering) - len(names)
    named = ", ".join(names) + (f" and {more} more" if more else "")
    return f"; the change edits how its checks run: {named}" if names else ""


def _removed(evidence: Evidence) -> str:
    """The tests of main that no longer pass, the first by name."""
    names = [inert(name) for name in evidence.removed_tests[:NAMED]]
    more = evidence.fewer_tests - len(names)
    return f" ({', '.join(names)}{f' and {more} more' if more else ''})" if names else ""


def gap_text(evidence: Evidence) -> str:
    """What is missing for `verified`."""
    named = ", ".join(f"`{inert(name)}`" for name in evidence.about[:NAMED])
    named += f" and {len(evidence.about) - NAMED} more" if len(evidence.about) > NAMED else ""
    if evidence.gap is None:
        return "the agent says so" if evidence.grade is Grade.CLAIMED else ""
    if evidence.gap is Gap.FEWER_TESTS:
        gone = counted(evidence.fewer_tests, "test")
        return f"{gone} of main no longer pass in {named}{_removed(evidence)}"
    return _GAPS[evidence.gap].format(named)


def canary_text(result: CanaryResult, commands: Sequence[str]) -> str:
    """What the checks said of code that was broken on purpose; '' where there was nothing to break."""
    checks = " and ".join(f"`{command}`" for command in result.noticed_by or commands)
    if result.is_untried:
        return f"{checks} takes too long to be tried by a break"
    if not result.places:
        return ""
    if result.noticed:
        return f"broke {result.places[-1]}; {checks} noticed in {result.seconds:.1f} s"
    if result.by_build:
        broken = ", then ".join(result.places)
        return f"broke {broken}; only a compiler or a linter noticed: {checks} was not seen to run the code"
    return f"broke {', then '.join(result.places)}, and {checks} stayed green: it does not test the change"


def wrong_copy_text(copy: "WrongCopy") -> str:
    """Why checks do not see the change."""
    what = "an editable install of another folder" if copy.is_editable else "an installed copy"
    return f"because it imports {inert(copy.package)} from {inert(copy.path)}, {what}"


def wrong_copy_fix(copy: "WrongCopy") -> str:
    """What makes them import the tree under check."""
    if copy.is_editable:
        return "use a sandbox that shows the change at the checkout's own path (see `interlock doctor`)"
    return "python -m pip install -e .  (or uv pip install -e .), in the environment that the checks use"


def grades_text(found: Iterable[Evidence]) -> str:
    """How many changes are verified, and how many are not; '' without any."""
    members = list(found)
    verified = sum(one.is_verified for one in members)
    rest = len(members) - verified
    if not members:
        return ""
    if not rest:
        return f"{verified} verified on the merged tree"
    if not verified:
        return f"{counted(rest, 'change')} unverified"
    return f"{verified} verified on the merged tree, {rest} unverified"
