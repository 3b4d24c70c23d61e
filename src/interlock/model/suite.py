"""What a check's own report says: which tests passed and failed, or why nothing could be run at all."""

from dataclasses import dataclass
from enum import StrEnum


class Unable(StrEnum):
    """Why a check could not run: its result says nothing about the code, and never excuses a change."""

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


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The tests of one run of a check, as its report names and counts them."""

    passed: tuple[str, ...] = ()
    """Their names, where the report tells them."""
    failed: tuple[str, ...] = ()
    passed_count: int = 0
    failed_count: int = 0

    @property
    def ran(self) -> int:
        """How many tests ran; those that were skipped did not."""
        return self.passed_count + self.failed_count
