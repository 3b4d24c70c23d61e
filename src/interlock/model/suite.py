"""A check's own report: the tests that passed and failed, or the reason that none could run."""

from dataclasses import dataclass
from enum import StrEnum


class RedMain(StrEnum):
    """The rule for changes while a check of the project fails on main itself."""

    STRICT = "strict"
    """No task starts until main is green."""
    BASELINE = "baseline"
    """Judged test by test against main; where that cannot be done, nothing starts."""
    ALLOW = "allow"
    """The same, but a check whose report cannot be read is excused as a whole."""


class Unable(StrEnum):
    """The reason that a check could not run: its result says nothing about the code and excuses no change."""

    PROGRAM = "program-not-found"
    NOT_EXECUTABLE = "not-executable"
    MODULE = "module-not-found"
    COLLECTION = "tests-not-collected"
    """A test file does not import, or the code does not build."""
    NO_TESTS = "no-tests"
    USAGE = "usage"
    """The program refused its options."""
    PATH = "path-not-found"
    SCRIPT = "script-not-found"
    TARGET = "target-not-found"
    NETWORK = "network"
    TIMEOUT = "timeout"
    SETUP = "setup-failed"
    """Its set-up failed, so the check was not started."""
    SERVICE = "service-not-started"
    """A service that it needs beside it did not start."""
    MACHINE = "machine"
    """The check could not be started: no sandbox, a full disk."""

    def is_beyond_a_change(self, about: str) -> bool:
        """Tell if no change of the repository could mend it. A task may add the file that its own check
        wants, but not a program on the PATH."""
        if self is Unable.PROGRAM:
            return bool(about) and "/" not in about
        return self in (Unable.NETWORK, Unable.TIMEOUT, Unable.MACHINE) or (
            self is Unable.MODULE and about in TEST_PROGRAMS
        )


TEST_PROGRAMS = frozenset({"pytest", "tox", "nox", "coverage", "unittest2", "nose", "nose2"})
"""Python modules that are started with `python -m`, and that a project does not hold itself."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The tests of one run of a check, as its report names and counts them."""

    passed: tuple[str, ...] = ()
    """Their names, where the report tells them."""
    failed: tuple[str, ...] = ()
    passed_count: int = 0
    failed_count: int = 0
    flaw: str = ""
    """The reason that the failing tests do not explain the red check, and its remedy; empty: they may."""
    beside: tuple[str, ...] = ()
    """The output of a red check before and after its report, without text that differs from run to run."""

    @property
    def ran(self) -> int:
        """Return the number of tests that ran; skipped tests did not."""
        return self.passed_count + self.failed_count

    @property
    def names_passes(self) -> bool:
        return len(self.passed) == self.passed_count

    @property
    def names_failures(self) -> bool:
        """Tell if only tests failed, and each is named, so that others can be told from them."""
        return not self.flaw and 0 < self.failed_count == len(self.failed)
