"""The clutch: asked before every start how many agents may work, in all, on each kind of work, and for each
provider. Each change of its answer is a fact with its reason (K3, K6).

Rules:
1. The number in force is the least of: what a person said or the machine can bear (all together), what the
   goodput brake allows (a kind of work), what its model server or credential has room for (a provider).
2. A number that a person gave is theirs: below it only the provider and the machine brake. With `auto` the
   goodput brake does too.
3. It goes by State, the machine's figures and the time alone: after a restart, or in another process, it says
   the same. What it remembers only spares it the same question twice.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.engine.host import READ_SECONDS, Host, HostReading, Load, host_step
from interlock.engine.options import Options
from interlock.engine.slots import agents_at_work
from interlock.events import facts as f
from interlock.events.state import State
from interlock.events.state_parts import Limit, Provider
from interlock.events.tallies import Goodput
from interlock.learn.clutch import Advice, Arm, Brake, CurrentLimit, Past, arms, beginning, next_step, outlook
from interlock.model.provider import is_account
from interlock.model.reason import Reason, Why

CALLS_TO_AGENTS = 1.5
"""Agents for each call that a provider takes at once: they also read, edit and run checks. Too few would keep
the provider's own brake from finding out that it could open."""


class Clutch:
    """Asks the brakes, and says what changed."""

    def __init__(self, host: Host, options: Options) -> None:
        self._host = host
        self._options = options
        self._reading = HostReading()
        self._read_at = -math.inf
        self._settled: dict[str, _Question] = {}
        """The last question about each kind of work, if the answer was that nothing changes."""

    def ask(self, state: State, now: float) -> list[f.ClutchDecided]:
        """Return the new limits, where they differ from those in force."""
        if state.run is None or state.run.stopping:
            return []
        if abs(now - self._read_at) >= READ_SECONDS:
            self._reading, self._read_at = self._host.read(), now
        most = self._options.max_parallel
        return [
            *_for_all(state, self._reading, self._options, now),
            *_for_providers(state, most, now),
            *(self._for_categories(state) if self._options.auto else _lifted(state, self._options)),
        ]

    def _for_categories(self, state: State) -> Iterator[f.ClutchDecided]:
        for category, gauge in state.learned.tallies.gauges.items():
            if not gauge.queued and not gauge.at_work:
                continue
            question = _question(state, category)
            if self._settled.get(category) == question:
                continue
            if decided := _for_category(state, category, self._options):
                yield decided
            else:
                self._settled[category] = question


_Question = tuple[int, int, int, int, bool, float]
"""All that the answer for a kind of work depends on and that may change while a run goes on."""


def _question(state: State, category: str) -> _Question:
    limit, gauge = state.limits.categories.get(category), state.learned.tallies.gauges[category]
    if limit is None:
        return 0, 0, 0, 0, gauge.queued > 0, 0.0
    numbers = state.learned.tallies.goodput.get(category, {}).get(limit.goodput, Goodput())
    return limit.limit, limit.goodput, limit.landed, limit.troubled, gauge.queued > 0, numbers.failed


def past_of(state: State, category: str) -> Past:
    """Return the results of a kind of work, and of the others."""
    goodput = state.learned.tallies.goodput
    others = [numbers for name, numbers in goodput.items() if name != category]
    return Past(category, goodput.get(category, {}), others)


def standing_of(state: State, category: str, limit: Limit, most: int) -> CurrentLimit:
    """Return the number in force for a kind of work, and its results."""
    gauge = state.learned.tallies.gauges.get(category)
    return CurrentLimit(limit.goodput, limit.landed, limit.troubled, bool(gauge and gauge.queued), most)


@dataclass(frozen=True, slots=True)
class CategoryView:
    """One kind of work as `interlock clutch` shows it."""

    category: str
    limit: Limit
    at_work: int
    queued: int
    arms: tuple[Arm, ...]
    """One agent fewer than the goodput brake allows, as many, and one more."""
    outlook: Reason | None


def category_views(state: State) -> Iterator[CategoryView]:
    """Every kind of work that the clutch has decided about."""
    most = state.run.limit if state.run else 1
    for category, limit in sorted(state.limits.categories.items()):
        gauge = state.learned.tallies.gauges.get(category)
        at_work, queued = (gauge.at_work, gauge.queued) if gauge else (0, 0)
        past, tried = past_of(state, category), max(1, limit.goodput)
        around = [arm for w, arm in arms(past, tried + 1).items() if abs(w - tried) <= 1]
        says = outlook(past, standing_of(state, category, limit, most)) if limit.goodput else None
        yield CategoryView(category, limit, at_work, queued, tuple(around), says)


def _for_all(state: State, reading: HostReading, options: Options, now: float) -> Iterator[f.ClutchDecided]:
    before = state.run.brake if state.run else None
    load = Load(agents_at_work(state), options.max_parallel, before, options.auto)
    if step := host_step(reading, load, now):
        figures = {"available_gib": round(reading.available_bytes / 2**30, 2), "at_work": float(load.busy)}
        yield f.ClutchDecided(step.agents, step.brake, step.why, evidence=figures)


def _for_providers(state: State, most: int, now: float) -> Iterator[f.ClutchDecided]:
    for name, provider in state.limits.brakes.items():
        places, until = provider_places(name, provider, most, now)
        before = state.limits.providers.get(name)
        if (before.limit, before.until) == (places, until) if before else places == most:
            continue
        figures = {"calls_at_once": provider.limit, "calls": provider.calls, "refused": provider.refused}
        yield f.ClutchDecided(
            places, Brake.PROVIDER, provider.why, evidence=figures, provider=name, until=until
        )


def provider_places(name: str, provider: Provider, most: int, now: float) -> tuple[int, float]:
    """Return the number of agents of a provider that may work; if it is 0, with the time until which."""
    if provider.until > now:
        return 0, provider.until
    if not provider.refused:
        return most, 0.0
    each = 1.0 if is_account(name) else CALLS_TO_AGENTS
    return min(most, max(1, math.ceil(each * provider.limit))), 0.0


def _for_category(state: State, category: str, options: Options) -> f.ClutchDecided | None:
    limit, past = state.limits.categories.get(category), past_of(state, category)
    if limit is None or not limit.goodput:
        first = beginning(past, options.max_parallel, options.cold_start)
        return _decided(past, first, options)
    standing = standing_of(state, category, limit, options.max_parallel)
    step = next_step(past, standing) or _as_before(limit, options.max_parallel)
    return _decided(past, step, options) if step else None


def _as_before(limit: Limit, most: int) -> Advice | None:
    """The number that was learned, where another one is in force: a person's, of an earlier run."""
    if limit.limit == min(limit.goodput, most):
        return None
    return Advice(limit.goodput, Brake.GOODPUT, Reason(Why.AS_LEARNED))


def _decided(past: Past, step: Advice, options: Options) -> f.ClutchDecided:
    agents, most = step.agents, options.max_parallel
    known = arms(past, agents + 1)
    figures = {
        f"landed_per_hour_at_{w}": round(known[w].landed_per_hour, 2)
        for w in (agents - 1, agents, agents + 1)
        if w in known
    }
    brake = step.brake if agents <= most else Brake.MAX_PARALLEL
    return f.ClutchDecided(min(agents, most), brake, step.why, past.category, figures, goodput=agents)


def _lifted(state: State, options: Options) -> Iterator[f.ClutchDecided]:
    """A person's number holds for every kind of work; what was learned is kept for later."""
    for category, limit in state.limits.categories.items():
        if limit.limit != options.max_parallel:
            why = Reason(Why.GOODPUT_OFF, {"cause": options.limit_why} if options.limit_why else {})
            brake = Brake.MAX_PARALLEL
            yield f.ClutchDecided(options.max_parallel, brake, why, category, goodput=limit.goodput)
