"""Checks that fail and pass on the same files, and how often, from the log."""

from dataclasses import dataclass, field

from interlock.events.facts import BaseChecked, CheckFlaked
from interlock.events.record import Recorded
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Flake:
    """One time that it failed for no reason in the files."""

    task: TaskId
    """Empty: on main."""
    attempt: int
    time: float
    log: str
    """The output of the run that failed."""


@dataclass(slots=True)
class FlakyCheck:
    """One command."""

    command: str
    runs: int = 0
    """All its runs, on main and with changes."""
    flakes: list[Flake] = field(default_factory=list)


class Flakes:
    """Reads the log once."""

    def __init__(self) -> None:
        self._checks: dict[str, FlakyCheck] = {}
        self._red: set[tuple[str, str]] = set()
        """Red runs that were counted: command and log."""

    def add(self, row: Recorded) -> None:
        fact = row.fact
        if isinstance(fact, CheckFlaked):
            check = self._of(fact.command)
            # The green run is among the checks of the fact that follows; the red one may be in one before.
            check.runs += (fact.command, fact.red_log) not in self._red
            check.flakes.append(Flake(fact.task, fact.attempt, row.time, fact.red_log))
            return
        results = (fact.result,) if isinstance(fact, BaseChecked) else getattr(fact, "checks", ())
        for result in results:
            if result and not result.reused:
                self._of(result.command).runs += 1
                if not result.passed:
                    self._red.add((result.command, result.log))

    def found(self) -> list[FlakyCheck]:
        """The flaky ones, those first that flake most often."""
        flaky = [check for check in self._checks.values() if check.flakes]
        return sorted(flaky, key=lambda check: -len(check.flakes) / check.runs)

    def _of(self, command: str) -> FlakyCheck:
        return self._checks.setdefault(command, FlakyCheck(command))
