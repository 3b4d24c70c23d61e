"""The lines of a run, one after the other. A provider that refuses calls is one line, not one for each."""

from dataclasses import dataclass, field

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.durations import lasting
from interlock.model.outcome import WAITS
from interlock.model.provider import provider_of
from interlock.model.reason import Reason, Why
from interlock.model.task import PhaseKind, TaskId
from interlock.ui.plain import counted, inert
from interlock.ui.words.facts import clock
from interlock.ui.words.progress import Line, sentence
from interlock.ui.words.reasons import reason_text


@dataclass(slots=True)
class Refusals:
    """A stretch of time in which a provider refuses calls."""

    why: str
    since: float
    count: int = 0
    next_try: float = 0.0
    tasks: set[TaskId] = field(default_factory=set)
    """Tasks whose attempt ended because of it."""


class Telling:
    """Turns facts into lines. It must be given every fact, in order, after that was folded into the state."""

    def __init__(self) -> None:
        self._refusing: dict[str, Refusals] = {}

    @property
    def refusing(self) -> frozenset[str]:
        """The providers that `waiting` has a line about."""
        return frozenset(self._refusing)

    def hear(self, row: Recorded, state: State) -> list[Line]:
        """The lines that a fact is worth; most are worth one or none."""
        fact = row.fact
        if refused := _refused(fact, state):
            return self._refuse(*refused, row)
        if self._is_part_of_waiting(fact):
            return []
        line = sentence(row, state)
        return [*self._answered(fact, row, state), *([line] if line else [])]

    def waiting(self, now: float) -> list[str]:
        """A line for each provider that refuses calls: how often, and when it is asked again."""
        return [
            f"{_host(provider)}: {one.why} ({counted(one.count, 'refusal')} in {lasting(now - one.since)}, "
            + (f"next try in {lasting(one.next_try - now)})" if one.next_try > now else "trying again)")
            for provider, one in self._refusing.items()
        ]

    def _refuse(self, provider: str, why: Reason | None, next_try: float, row: Recorded) -> list[Line]:
        is_new = provider not in self._refusing
        known = self._refusing.setdefault(provider, Refusals(_cause(why), row.time))
        known.count += 1
        known.next_try = max(known.next_try, next_try)
        if isinstance(row.fact, f.PhaseFailed):
            known.tasks.add(row.fact.task)
        if not is_new:
            return []
        when = f"; next try at {clock(next_try)}" if next_try > row.time else ""
        text = f"{_host(provider)} refuses calls: {known.why}{when}. Further refusals are counted, not listed"
        return [("yellow", f"{clock(row.time)} {text}")]

    def _is_part_of_waiting(self, fact: f.Fact) -> bool:
        """A limit that goes up and down, and new attempts of tasks that were cut off."""
        if isinstance(fact, f.ClutchDecided):
            return fact.provider in self._refusing
        if isinstance(fact, f.PhaseStarted):
            return any(fact.task in one.tasks for one in self._refusing.values())
        return False

    def _answered(self, fact: f.Fact, row: Recorded, state: State) -> list[Line]:
        """An agent of a provider that refused calls has come to an end of its own: the provider answers."""
        if not isinstance(fact, f.WorkFinished | f.PhaseFailed) or fact.task not in state.tasks:
            return []
        task = state.tasks[fact.task]
        is_agent = task.spec.pipeline[task.spec.phase_index(fact.phase)].kind is PhaseKind.AGENT
        provider = provider_of(task.who)
        if not is_agent or provider not in self._refusing:
            return []
        over = self._refusing.pop(provider)
        how_often = f"{counted(over.count, 'refusal')} in {lasting(row.time - over.since)}"
        return [("", f"{clock(row.time)} {_host(provider)} answers again, after {how_often}")]


def _refused(fact: f.Fact, state: State) -> tuple[str, Reason | None, float] | None:
    """The provider that refused, the reason, and the time of the next try; None for any other fact."""
    if isinstance(fact, f.ClutchDecided) and fact.provider and fact.limit == 0:
        return fact.provider, fact.why, fact.until
    if isinstance(fact, f.PhaseFailed) and fact.error in WAITS and fact.task in state.tasks:
        task = state.tasks[fact.task]
        provider = provider_of(task.who)
        return (provider, fact.why, task.queue.not_before) if provider else None
    return None


def _cause(why: Reason | None) -> str:
    """The provider's own message, without its effect on the limit."""
    return reason_text(why.cause if why and why.code == Why.REFUSED else why).rstrip(".")


def _host(provider: str) -> str:
    """Return the provider without the name of the variable that holds its credential."""
    return inert(provider.partition(" ")[0])
