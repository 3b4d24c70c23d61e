"""What the engine asks of a checker."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from interlock.model.outcome import CheckResult
from interlock.model.task import Tree


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """Commands to run on one tree."""

    name: str
    """Names the evidence: task and attempt, or `base`."""
    tree: Tree
    commands: tuple[str, ...]
    timeout_seconds: float
    env: dict[str, str]


class Checker(Protocol):
    """Runs the repository's own checks on a tree, in a clean directory, and keeps the output."""

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        """All commands in order, in one fresh checkout. It goes on after a red one: all evidence counts."""
        ...
