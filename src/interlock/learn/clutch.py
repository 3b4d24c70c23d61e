"""Chooses the number of agents for one kind of work, by the results of each number (the goodput brake).

What is to be as great as possible, for w agents at once:

    V(w) = landed per hour at w, less w x PRICE x what an undisturbed agent lands per hour

so that the last agent must earn its keep: one that brings less than PRICE of what it would bring alone costs
more than it is worth. Landed per hour at w is w x (chance that an attempt lands) / (agent time of one).

Rules:
1. The chance at w is a Beta, pooled towards the chance at w - 1 times what one more agent usually leaves of
   it (in other kinds of work); at one agent towards other kinds of work and published acceptance rates. More
   agents never make a single attempt better, so chances fall with w.
2. Like is compared with like: first attempts with first, later with later, each pooled towards what such
   attempts came to with any number of agents. A kind of work whose first attempt is always red is not blamed
   on how many work on it.
3. Only what is near the number in force is compared (V has one peak, so that is enough): one step up at a
   time, and down to what has done better, at most to half.
4. A step up needs landings that were made with all w at work, more of them the more are at work (the first to
   land are the quick ones), and more for unusual trouble; so it never grows if the queue did not fill w. And
   V(w + 1) must be able to beat V(w), taking a favourable view of what is little known. As old evidence fades
   a step that failed long ago is tried again.
5. Nothing known: one agent (K2), or the default of `max_parallel` where a person said nothing at all.

`python -m bench clutch` shows the regret on curves of several shapes; the constants were chosen on them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.events.tallies import MOST_AGENTS, Goodput
from interlock.learn.evidence import PUBLISHED, UNKNOWN
from interlock.model.reason import Reason, Value, Why

PRICE = 0.2
"""The share of an undisturbed agent's landings that the last agent must bring."""
STRENGTH = 6.0
"""Weight of the pooled chance, in attempts: a dozen attempts of the kind's own can overrule it."""
KEPT = 0.98
"""Share of the chance to land that is left with one more agent, when nothing is known."""
KEPT_STRENGTH = 10.0
ELSEWHERE = 0.5
"""Weight of an attempt in another category, beside one of its own."""
FAVOUR, PATIENCE = 1.0, 0.8
"""Standard deviations of the chance: how well a number may be thought of before it is tried, and how much
better a smaller one must look before it is left."""
USUAL_SECONDS = 600.0
ENOUGH = 3.0
"""Attempts that came to an end, before the numbers of earlier runs say where to begin."""

SOME = 0.5
"""Part of an attempt. One attempt alone counts as evidence, though it fades a little with each run."""


class Brake(StrEnum):
    """The limit that holds the number down."""

    COLD_START = "cold-start"
    GOODPUT = "goodput"
    PROVIDER = "provider"
    HOST = "host"
    MAX_PARALLEL = "max-parallel"


@dataclass(frozen=True, slots=True)
class Past:
    """Results of one kind of work, by the number of agents at once."""

    category: str
    own: Mapping[int, Goodput] = field(default_factory=dict)
    others: Sequence[Mapping[int, Goodput]] = ()
    """Other kinds of work."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Expected results of a number of agents."""

    agents: int
    chance: float
    """That an attempt lands."""
    landed_per_hour: float
    value: float
    could_be: float
    """The value on a favourable view."""
    spread: float
    """A standard deviation of the value."""
    attempts: float
    """Finished attempts with this number of agents."""

    @property
    def is_tried(self) -> bool:
        """True if it was ever at work, not too long ago."""
        return self.attempts >= SOME


@dataclass(frozen=True, slots=True)
class CurrentLimit:
    """The number in force, and the results since it was set."""

    agents: int
    landed: int = 0
    troubled: int = 0
    queued: bool = True
    """True if another task of this kind waits."""
    most: int = 1_000


@dataclass(frozen=True, slots=True)
class Advice:
    """A number of agents, and the reason for it."""

    agents: int
    brake: Brake
    why: Reason


def arms(past: Past, most: int) -> dict[int, Arm]:
    """Return the expected results of one agent, two, and so on up to `most`."""
    chances, spread, seconds = _chances(past, most), _spread(past, most), _seconds(past, most)
    efforts = {w: seconds[w] / chances[w] for w in chances}
    least = min(efforts.values())
    found = {}
    for w, chance in chances.items():
        per_hour = 3_600 * w * chance / seconds[w]
        value = per_hour * (1 - PRICE * efforts[w] / least)
        varies = per_hour * spread[w] / chance
        could_be = value + FAVOUR * varies
        found[w] = Arm(w, chance, per_hour, value, could_be, varies, _ended(past.own.get(w)))
    return found


def beginning(past: Past, most: int, cold: int = 1) -> Advice:
    """Return the first number for a kind of work that the clutch has not decided yet: `cold` agents if
    nothing is known."""
    if sum(map(_ended, past.own.values())) >= ENOUGH and _tried(past.own):
        best, arm = _best(past)
        return Advice(min(best, most), Brake.GOODPUT, Reason(Why.DID_BEST, _figures(arm)))
    return Advice(min(cold, most), Brake.COLD_START, Reason(Why.NO_RESULTS, {"agents": cold}))


def _best(past: Past) -> tuple[int, Arm]:
    tried = _tried(past.own)
    known = arms(past, max(tried))
    best = max(tried, key=lambda w: known[w].value)
    return best, known[best]


def next_step(past: Past, now: CurrentLimit) -> Advice | None:
    w = now.agents
    if not now.landed and not now.troubled:
        return None
    known = arms(past, w + 1)
    if down := _down(known, now):
        return down
    here = known[w]
    if _lacking(known, now) > 0 or not now.queued or w >= now.most or known[w + 1].could_be <= here.value:
        return None
    results = {"landed": now.landed, "troubled": now.troubled}
    return Advice(w + 1, Brake.GOODPUT, Reason(Why.PAYS, results | _figures(here)))


def outlook(past: Past, now: CurrentLimit) -> Reason:
    """Say what would change the number."""
    w = now.agents
    known = arms(past, w + 1)
    if w >= now.most:
        return Reason(Why.AT_MOST, {"agents": now.most})
    if known[w + 1].could_be <= known[w].value:
        return Reason(Why.DID_WORSE, _figures(known[w + 1]))
    if (lacking := _lacking(known, now)) > 0:
        return Reason(Why.OPENS_AFTER, {"agents": w + 1, "landings": lacking, "at_work": w})
    return Reason(Why.OPENS_NEXT, {"agents": w + 1})


def _down(known: Mapping[int, Arm], now: CurrentLimit) -> Advice | None:
    w, here = now.agents, known[now.agents]
    fewer = [known[less] for less in range(max(1, w // 2), w)]
    tried = [arm for arm in fewer if arm.is_tried] or fewer[-1:]
    better = max(tried, key=lambda arm: arm.value, default=here)
    if better.value <= here.value + PATIENCE * here.spread:
        return None
    fields = _figures(here) | {"landed": now.landed, "troubled": now.troubled}
    fields["cause"] = Reason(Why.GOODPUT, _figures(better))
    return Advice(better.agents, Brake.GOODPUT, Reason(Why.DOES_NOT_PAY, fields))


def _lacking(known: Mapping[int, Arm], now: CurrentLimit) -> int:
    """Landings that a step up still needs: more for trouble beyond what one agent fewer would have had."""
    usual = (1 - known[max(1, now.agents - 1)].chance) * (now.landed + now.troubled)
    needed = (1 + math.ceil(now.agents / 2)) * (1 + max(0.0, now.troubled - usual) / 2)
    return max(0, math.ceil(needed - now.landed))


def _figures(arm: Arm) -> dict[str, Value]:
    return {"agents": arm.agents, "landed_per_hour": arm.landed_per_hour, "chance": arm.chance}


def _chances(past: Past, most: int) -> dict[int, float]:
    """Rules 1 and 2: of first and of later attempts, each in the share that it has of all."""
    base, counts = _first_chance(past), (_firsts, _laters)
    ended = [sum(count(goodput)[1] for goodput in past.own.values()) for count in counts]
    shares = [each / sum(ended) for each in ended] if sum(ended) else [1.0, 0.0]
    chains = [_chain(past, most, base, count) for count in counts]
    found = {
        w: max(1e-3, sum(share * chain[w] for share, chain in zip(shares, chains, strict=True)))
        for w in range(1, most + 1)
    }
    return _falling(found, {w: STRENGTH + _ended(past.own.get(w)) for w in found})


def _chain(past: Past, most: int, base: float, count: "_Count") -> dict[int, float]:
    """Return the chances from one agent upwards, beginning with those of such attempts at any number."""
    pooled = [count(goodput) for goodput in past.own.values()]
    landed, ended = (sum(each) for each in zip(*pooled, strict=True)) if pooled else (0.0, 0.0)
    before = (STRENGTH * base + landed) / (STRENGTH + ended)
    found: dict[int, float] = {}
    for w in range(1, most + 1):
        expected = before * (_kept(past, w) if w > 1 else 1.0)
        landed, ended = count(past.own.get(w))
        found[w] = before = (STRENGTH * expected + landed) / (STRENGTH + ended)
    return found


def _spread(past: Past, most: int) -> dict[int, float]:
    chances = _chances(past, most)
    return {
        w: math.sqrt(chance * (1 - min(chance, 0.99)) / (STRENGTH + _ended(past.own.get(w)) + 1))
        for w, chance in chances.items()
    }


def _first_chance(past: Past) -> float:
    """Return the chance of one agent alone, while unknown: of other kinds of work, and as published."""
    published = PUBLISHED.get(past.category, UNKNOWN)
    verdicts = [_verdicts(goodput) for numbers in past.others for goodput in numbers.values()]
    ended = sum(each[1] for each in verdicts)
    if not ended:
        return published
    weight = min(STRENGTH, ELSEWHERE * ended)
    share = sum(each[0] for each in verdicts) / ended
    return (STRENGTH * published + weight * share) / (STRENGTH + weight)


def _kept(past: Past, w: int) -> float:
    """Return the share of the chance at w - 1 that is left with one more agent, wherever that was seen."""
    landed = expected = 0.0
    for numbers in past.others:
        fewer = _verdicts(numbers.get(w - 1))
        here = _verdicts(numbers.get(w))
        if fewer[1] and here[1]:
            landed += ELSEWHERE * here[0]
            expected += ELSEWHERE * here[1] * fewer[0] / fewer[1]
    return min(1.0, (KEPT_STRENGTH * KEPT + landed) / (KEPT_STRENGTH + expected))


def _falling(chances: Mapping[int, float], weights: Mapping[int, float]) -> dict[int, float]:
    """The nearest chances that never rise with the number (pool adjacent violators)."""
    blocks: list[tuple[float, float, list[int]]] = []
    for w in sorted(chances):
        mean, weight, members = chances[w], weights[w], [w]
        while blocks and blocks[-1][0] < mean:
            other, heavier, earlier = blocks.pop()
            mean = (mean * weight + other * heavier) / (weight + heavier)
            weight, members = weight + heavier, earlier + members
        blocks.append((mean, weight, members))
    return {w: mean for mean, _, members in blocks for w in members}


def _seconds(past: Past, most: int) -> dict[int, float]:
    """Agent time of one attempt, pooled towards that with one agent fewer; it never falls with the number."""
    before = _first_seconds(past)
    found = {}
    for w in range(1, most + 1):
        own = past.own.get(w, Goodput())
        spent = STRENGTH * before + own.agent_seconds
        found[w] = before = max(1e-3, spent / (STRENGTH + own.attempts))
    weights = {w: STRENGTH + past.own.get(w, Goodput()).attempts for w in found}
    return {w: -value for w, value in _falling({w: -s for w, s in found.items()}, weights).items()}


def _first_seconds(past: Past) -> float:
    """Return the time with the fewest agents that have figures: more may have been in each other's way."""
    for _, goodput in sorted(past.own.items()):
        if goodput.attempts >= SOME:
            return goodput.agent_seconds / goodput.attempts
    return USUAL_SECONDS


def _tried(numbers: Mapping[int, Goodput]) -> list[int]:
    return [w for w, goodput in numbers.items() if w <= MOST_AGENTS and _ended(goodput) >= SOME]


def _ended(goodput: Goodput | None) -> float:
    return _verdicts(goodput)[1]


def _verdicts(goodput: Goodput | None) -> tuple[float, float]:
    """Return the number of attempts that landed, and of those that came to an end."""
    if goodput is None:
        return 0.0, 0.0
    return goodput.landed, goodput.landed + goodput.failed + goodput.conflicts


_Count = Callable[[Goodput | None], tuple[float, float]]


def _firsts(goodput: Goodput | None) -> tuple[float, float]:
    """Return the same for attempts at tasks that had not failed before."""
    return (goodput.first_landed, goodput.first_ended) if goodput else (0.0, 0.0)


def _laters(goodput: Goodput | None) -> tuple[float, float]:
    (landed, ended), (first_landed, first_ended) = _verdicts(goodput), _firsts(goodput)
    return max(0.0, landed - first_landed), max(0.0, ended - first_ended)
