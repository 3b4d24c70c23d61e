"""Reasons for which a command did not resolve a conflict."""

from enum import StrEnum


class Obstacle(StrEnum):
    """The fault of the result of a command that was to resolve a conflict."""

    FAILED = "failed"
    UNCHANGED = "unchanged"
    """It left a file as main has it: what the change did there would be lost."""
    UNUSABLE = "unusable"
    """It left no plain file of a usual size."""
    LEAK = "leak"
    """It put a secret into a file."""
