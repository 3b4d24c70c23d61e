"""The clutch as programs and people see it: limits, brakes, providers and decisions."""

from collections import deque
from dataclasses import dataclass, field

from interlock.engine.clutch import CategoryView, category_views
from interlock.engine.host import HostReading
from interlock.engine.slots import agents_at_work
from interlock.events.facts import ClutchDecided
from interlock.events.record import Recorded
from interlock.events.state_parts import Limit, Provider
from interlock.model.reason import Reason
from interlock.ui.reading import Reading

SHOWN = 10
"""Decisions, the newest last."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One of the clutch's answers."""

    time: float
    about: str
    limit: int
    brake: str
    why: Reason | None


@dataclass(frozen=True, slots=True)
class ProviderView:
    """A provider, as its brake and the clutch see it."""

    provider: str
    calls_at_once: float
    calls: int
    refused: int
    agents: int | None
    """The number that may work; None: no limit."""
    until: float | None
    """The time it opens again; None: it is open."""
    why: Reason | None


@dataclass(frozen=True, slots=True)
class ClutchView:
    """Everything that decides how many agents work."""

    is_running: bool
    limit: int
    """Limit of all agents together."""
    brake: str
    why: Reason | None
    at_work: int
    categories: tuple[CategoryView, ...]
    providers: tuple[ProviderView, ...]
    host: HostReading
    decisions: tuple[Decision, ...]


def clutch_view(reading: Reading, host: HostReading, decisions: tuple[Decision, ...]) -> ClutchView:
    """Everything that decides how many agents work, from State and what the machine says."""
    state, brake = reading.state, reading.state.run.brake if reading.state.run else None
    return ClutchView(
        reading.is_live,
        state.run.limit if state.run else 0,
        brake.brake if brake else "",
        brake.why if brake else None,
        agents_at_work(state),
        tuple(category_views(state)),
        tuple(
            _provider(name, provider, state.limits.providers.get(name))
            for name, provider in sorted(state.limits.brakes.items())
        ),
        host,
        decisions,
    )


def _provider(name: str, provider: Provider, limit: Limit | None) -> ProviderView:
    agents = limit.limit if limit else None
    return ProviderView(
        name,
        provider.limit,
        provider.calls,
        provider.refused,
        agents,
        provider.until or None,
        provider.why,
    )


@dataclass(slots=True)
class Decisions:
    """The last ones, as they are read from a log."""

    newest: deque[Decision] = field(default_factory=lambda: deque(maxlen=SHOWN))

    def add(self, row: Recorded) -> None:
        if row.kind == ClutchDecided.__name__ and isinstance(fact := row.fact, ClutchDecided):
            self.newest.append(decision_of(row.time, fact))


def decision_of(time: float, fact: ClutchDecided) -> Decision:
    about = fact.provider or fact.category or "all"
    return Decision(time, about, fact.limit, fact.brake, fact.why)
