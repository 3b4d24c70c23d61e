"""Judges if a lesson helps: the success of attempts with it against those without it."""

from collections.abc import Iterable, Mapping
from math import erf, sqrt

from interlock.events.facts import LessonRetired
from interlock.events.state import State
from interlock.events.state_parts import LessonState
from interlock.model.reason import Reason, Value, Why

MOST_ACTIVE = 200
"""Every start looks at all of them."""
LEAST_TRIED = 2
ENOUGH = 12
"""Attempts with a lesson after which it should have shown what it is good for, and without it."""
ENOUGH_WITHOUT = 4
MARGIN = 0.05
"""A lesson takes room in a prompt: to help, it must help by this much."""
LOST = 2
"""Attempts with it that failed, beyond those that landed: then it stops at once, unless those without it do
as badly. One with which nine of ten land gets there once in eighty, one with which none lands at two."""
HARM = 0.9
"""The probability of harm at which it goes. A good one is rarely lost so, and a bad one soon."""
LITTLE_HOPE = 0.25
LANDING_WEIGHT = 0.5
MOST_LANDINGS = 4
"""Each landing that showed the lesson speaks for it like half an attempt, up to some."""


def is_better(known: LessonState) -> float:
    """The probability that attempts do better with the lesson than without."""
    return _exceeds(_with(known), _without(known))


def is_worse(known: LessonState) -> float:
    return _exceeds(_without(known), _with(known))


def retirements(state: State) -> list[LessonRetired]:
    """The lessons that have shown to be of no use, each with its figures. What a person wrote stays."""
    lessons = state.learned.lessons.items()
    active = {name: known for name, known in lessons if not (known.retired or known.lesson.author)}
    found = {name: why for name, known in active.items() if (why := useless(known))}
    if len(active) - len(found) > MOST_ACTIVE:
        found |= _crowded_out(active, active.keys() - found)
    return [LessonRetired(name, reason=why) for name, why in found.items()]


def _crowded_out(active: Mapping[str, LessonState], left: Iterable[str]) -> dict[str, Reason]:
    ranked = sorted(left, key=lambda name: (-is_better(active[name]), -active[name].learned, name))
    return dict.fromkeys(ranked[MOST_ACTIVE:], Reason(Why.CROWDED_OUT, {"limit": MOST_ACTIVE}))


def useless(known: LessonState) -> Reason | None:
    lost = known.with_tried - 2 * known.with_landed
    if lost >= LOST and _mean(_with(known)) < _mean(_without(known)):
        return Reason(Why.MISLEADS, figures(known))
    if known.with_tried >= LEAST_TRIED and is_worse(known) >= HARM:
        return Reason(Why.MISLEADS, figures(known) | {"harm": is_worse(known)})
    tried_enough = known.with_tried >= ENOUGH and known.without_tried >= ENOUGH_WITHOUT
    if tried_enough and _exceeds(_with(known), _without(known), MARGIN) <= LITTLE_HOPE:
        return Reason(Why.NO_HELP, figures(known))
    return None


def figures(known: LessonState) -> dict[str, Value]:
    return {
        "with_landed": known.with_landed,
        "with_tried": known.with_tried,
        "without_landed": known.without_landed,
        "without_tried": known.without_tried,
    }


Shape = tuple[float, float]
"""Parameters of a Beta distribution."""


def _mean(shape: Shape) -> float:
    return shape[0] / sum(shape)


def _with(known: LessonState) -> Shape:
    behind = LANDING_WEIGHT * min(known.learned, MOST_LANDINGS)
    return 1.0 + behind + known.with_landed, 1.0 + known.with_tried - known.with_landed


def _without(known: LessonState) -> Shape:
    return 1.0 + known.without_landed, 1.0 + known.without_tried - known.without_landed


def _exceeds(one: Shape, other: Shape, by: float = 0.0) -> float:
    """The probability that a draw from `one` is larger than one from `other` by this much, nearly."""
    deviation = sqrt(_variance(one) + _variance(other))
    return (1 + erf((_mean(one) - _mean(other) - by) / (deviation * sqrt(2)))) / 2


def _variance(shape: Shape) -> float:
    return _mean(shape) * (1 - _mean(shape)) / (sum(shape) + 1)
