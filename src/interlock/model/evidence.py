"""Grades of evidence for a change: its agent's claim, an observation, a passed check."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from interlock.model.canary import CanaryResult
from interlock.model.outcome import CheckResult
from interlock.model.steering import steering


class Grade(StrEnum):
    """The worth of the evidence for a task or a commit, the least first."""

    CLAIMED = "claimed"
    """The agent says so."""
    OBSERVED = "observed"
    """An agent ran and files changed; no check covers that."""
    VERIFIED = "verified"
    """Checks passed on the merged tree, which is the tree that lands."""


class Gap(StrEnum):
    """The reason that a change is not `verified`."""

    UNCHECKED = "not-checked-yet"
    NO_CHECKS = "no-checks"
    RED_ON_MAIN = "red-on-main"
    """A check failed that fails on main too, and its tests cannot be told apart."""
    BLIND = "canary-not-noticed"
    """The checks stayed green on code that was broken on purpose."""
    ONLY_BUILT = "canary-noticed-by-build-only"
    """A compiler or a linter noticed code that was broken on purpose, and no check was seen to run it."""
    UNREAD = "change-not-read"
    """No check has read a single source file that the change edits."""
    FEWER_TESTS = "fewer-tests"
    """Fewer than half of the tests are left that pass on main: most were exchanged for others."""
    TESTS_REMOVED = "tests-removed"
    """Files of tests are gone or have less in them, and no report counts the tests that ran."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The grade of one change, and what keeps it from a better one."""

    grade: Grade
    gap: Gap | None = None
    about: tuple[str, ...] = ()
    """The subject of the gap: commands, broken places, or files."""
    known_failures: int = 0
    """Tests that fail as they do on main. Every test that passes there passes."""
    fewer_tests: int = 0
    """The number of tests of a green main that no longer pass."""
    removed_tests: tuple[str, ...] = ()
    """Their names, where the report tells them; at most 50 of each check."""
    untried: bool = False
    """The checks were not tried on code that was broken on purpose: they take too long, or Interlock cannot
    break any file of the project."""
    steering: tuple[str, ...] = ()
    """Files of the change that decide how its checks run: it had a say in what they report."""

    @property
    def is_verified(self) -> bool:
        return self.grade is Grade.VERIFIED

    @property
    def weakens_checks(self) -> bool:
        """Tell if the checks may notice less after the change than before it."""
        return bool(self.steering or self.fewer_tests) or self.gap is Gap.TESTS_REMOVED


_LESS_THAN_LOST_TESTS = (None, Gap.UNREAD, Gap.RED_ON_MAIN)
"""The gaps that `tests-removed` replaces. The canary is tried again after a change with that gap."""
CLAIMED = Evidence(Grade.CLAIMED)
UNCHECKED = Evidence(Grade.OBSERVED, Gap.UNCHECKED)
VERIFIED = Evidence(Grade.VERIFIED)


def weigh(
    checks: Sequence[CheckResult],
    canary: CanaryResult | None = None,
    touched: Sequence[str] = (),
    lost_tests: tuple[str, ...] = (),
) -> Evidence:
    """The evidence that the checks of a merged tree are, when none of them is held against the change.

    `canary`: what the project's checks said of code that was broken on purpose, if that is known. `touched`:
    the files that the change edits. `lost_tests`: those with tests that no report counts, and that are gone
    or have less in them.
    """
    if not checks:
        return Evidence(Grade.OBSERVED, Gap.NO_CHECKS)
    found = _weighed(checks, canary)
    if lost_tests and found.gap in _LESS_THAN_LOST_TESTS:
        found = replace(found, grade=Grade.OBSERVED, gap=Gap.TESTS_REMOVED, about=lost_tests)
    return replace(found, steering=steering(touched, [check.command for check in checks]))


def _weighed(checks: Sequence[CheckResult], canary: CanaryResult | None) -> Evidence:
    red = [check for check in checks if not check.passed]
    if unread := tuple(check.command for check in red if not (check.suite and check.suite.names_failures)):
        return Evidence(Grade.OBSERVED, Gap.RED_ON_MAIN, unread)
    # A green check that counts failed tests without names was compared with main too (`train.judge`).
    counted = [
        check.suite for check in checks if check.suite and (not check.passed or not check.suite.failed)
    ]
    known = sum(suite.failed_count for suite in counted)
    if canary and canary.is_blind:
        gap = Gap.ONLY_BUILT if canary.by_build else Gap.BLIND
        return Evidence(Grade.OBSERVED, gap, canary.places, known)
    fewer = sum(check.fewer_passed for check in checks if check.suite)
    removed = tuple(name for check in checks if check.passed for name in check.vanished)
    if few := tuple(check.command for check in checks if check.suite and check.fewer_passed):
        return Evidence(Grade.OBSERVED, Gap.FEWER_TESTS, few, known, fewer, removed)
    untried = canary is not None and canary.is_untried
    if all(check.watched and len(check.unread) == check.watched for check in checks):
        return Evidence(Grade.OBSERVED, Gap.UNREAD, checks[0].unread, known)
    return Evidence(Grade.VERIFIED, known_failures=known, untried=untried)


def change_checks(task: str, attempt: int, epoch: int) -> str:
    """Return the folder below `evidence/` with the output of the checks of a change on main."""
    return f"{task}/{attempt}-{epoch}"


def build_checks(slot: int, epoch: int) -> str:
    """Return the folder with the output of the checks of a build."""
    return f"build/{slot}-{epoch}"
