"""Base classes of facts."""

from dataclasses import dataclass

from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened."""


@dataclass(frozen=True, slots=True)
class PhaseFact(Fact):
    """About one phase of one attempt, under one claim."""

    task: TaskId
    attempt: int
    phase: str
    epoch: int


@dataclass(frozen=True, slots=True)
class PhasePassed(PhaseFact):
    """The phase is over and the next one may begin."""
