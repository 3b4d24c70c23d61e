"""Rows of a log that no honest program writes: bodies made from the types of the facts, and then spoiled.

Everything comes from one seed. A row is JSON text and never passes `encode`, as rows of older versions and
of a damaged log have not passed today's.
"""

import dataclasses
import json
import math
import random
import re
import types
import typing
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TypeVar

from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import DoneTasks

NAMES = (*"abcdef", "unknown", "")
PHASES = ("implement", "verify", "land", "review", "")
TEXTS = (
    "",
    "x",
    "a",
    "make test",
    "src/**",
    "[",
    "\x00",
    "\u202e",
    "\x1b[2J",
    "\x9b2J\x85\x7f",
    "a\rb\u2066c\u200f",
    "é" * 40,
    "a/" * 300,
    "**/" * 20,
)
NUMBERS: tuple[object, ...] = (
    *(0, 1, 2, 3, 7, -1, -3, 0.5, 60.0, 5e-324, 1e-9, 1e9, 1e11, 1e308, -1e308, -5e-324),
    *(2**31, 2**53, 2**63, -(2**63), 2**64, 10**30, "=1e400", "=-1e400", "=huge"),
)
"""Those that begin with = are no numbers of Python: `_spoiled` writes them."""
WRONG: tuple[object, ...] = (None, True, "", "5", "nan", math.nan, "\x00", [], [1], {}, {"a": 1}, -1, 1e308)
_TIMES = (-1.0, 0.0, 1e308, math.inf, -math.inf, math.nan)
USUAL, ODD = 0.7, 0.04
"""How often a number is a small one, and how often a value has another type than it should."""

_REVIEWS = (f.ReviewOpened, f.ReviewCommented, f.ReviewApproved, f.ReviewRejected)

T = TypeVar("T")


class Villain:
    """Writes rows of a log that is folded into `state`."""

    def __init__(self, seed: int, kept: int = 100) -> None:
        """`kept`: the number of tasks that stay in State when they are done; 0: each is packed at once."""
        self.dice = random.Random(seed)
        self.state = State(done=DoneTasks(kept=kept))
        self._seq, self._time, self._careless = 0, 1_000.0, False

    def tell(self) -> Recorded:
        """One more row, folded."""
        row = self.row()
        apply(self.state, row)
        return row

    def row(self) -> Recorded:
        """One more row."""
        self._seq += 1
        self._time += self.dice.choice((0.0, 1.0, 40.0, 4_000.0))
        time = self._time if self.dice.random() < 0.97 else self._pick(_TIMES)
        self._careless = self.dice.random() < 0.3
        kind = self.dice.choice(_KINDS)
        fields = self._fields(kind)
        if "epoch" in fields and self.dice.random() < 0.8:
            fields |= self._fitting(kind)
        return Recorded(self._seq, time, "villain", kind.__name__, self._spoiled(fields), f"{self._seq:064}")

    def _fitting(self, kind: type[f.Fact]) -> dict[str, object]:
        """A phase that a task is in, so that the fact counts."""
        if not self.state.tasks:
            return {}
        task: TaskState = self.dice.choice(list(self.state.tasks.values()))
        starts = kind is f.PhaseStarted
        where: dict[str, object] = {
            "task": task.spec.id,
            "attempt": task.attempt + starts,
            "phase": task.phase.name,
            "epoch": task.epoch + starts,
        }
        if kind in _REVIEWS and (review := task.change.review):
            where |= {"digest": review.digest, "work": review.work}
        return where | (
            {"commit": task.change.candidate.commit} if kind is f.Landed and task.change.candidate else {}
        )

    def _fields(self, kind: type) -> dict[str, object]:
        """Some of the fields of a dataclass; those without a default nearly always."""
        return {
            name: self._value(hint, name)
            for name, (hint, needed) in _fields_of(kind).items()
            if self.dice.random() < (0.995 if needed else 0.6)
        }

    def _value(self, hint: object, name: str) -> object:
        if self._careless and self.dice.random() < ODD:
            return self._pick(WRONG)
        if name in _NAMED and not dataclasses.is_dataclass(hint):
            return self._pick(_NAMED[name])
        origin, given = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._value(self._pick([each for each in given if each is not type(None)]), name)
        if origin in (tuple, list):
            return [self._value(given[0], name) for _ in range(self.dice.choice((0, 0, 1, 2, 3)))]
        if origin in (dict, Mapping):
            return {str(self._value(given[0], "")): self._value(given[1], name) for _ in range(2)}
        return self._single(hint, name)

    def _single(self, hint: object, name: str) -> object:
        if hasattr(hint, "__supertype__"):
            return self._value(hint.__supertype__, name)
        if hint is bool:
            return self.dice.random() < 0.5
        if hint in (int, float):
            return self.dice.randrange(4) if self.dice.random() < USUAL else self._pick(NUMBERS)
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return self._pick(list(hint)).value if self.dice.random() < 0.95 else "unheard-of"
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self._fields(hint)
        return self._pick(TEXTS)

    def _spoiled(self, fields: Mapping[str, object]) -> str:
        """The fact as JSON, or at times nearly."""
        body = json.dumps({**fields, **({"later": 1} if self.dice.random() < 0.05 else {})})
        body = re.sub('"=(.*?)"', lambda found: found[1].replace("huge", 10_000 * "9"), body)
        match self.dice.randrange(1_000):
            case 0:
                return body[: self.dice.randrange(len(body))]
            case 1:
                return "[" * 10_000
            case 2:
                return self._pick(("", "null", "[]", "7", '"x"', '{"task": "\\ud800"}'))
            case _:
                return body

    def _pick(self, choices: Sequence[T]) -> T:
        return self.dice.choice(choices)


@cache
def _fields_of(kind: type) -> dict[str, tuple[object, bool]]:
    """Of a dataclass: the type of each field, and if it must be there."""
    hints = typing.get_type_hints(kind)
    return {
        each.name: (
            hints[each.name],
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(kind)
    }


_OFTEN = (f.PhaseStarted, f.WorkFinished, f.CandidatePassed, f.Landed, f.PhaseFailed)
_KINDS = [*f.kinds().values(), *5 * _OFTEN, *8 * (f.TaskAccepted,), f.TaskRetried]
_NAMED: Mapping[str, Sequence[object]] = {
    "id": NAMES,
    "task": NAMES,
    "needs": [[], [], ["a"], ["b", "b"], ["unknown"], ["c", "a"]],
    "phase": PHASES,
    "back_to": PHASES,
    "commit": ["", "c1", "c2"],
    "tree": ["", "t1", "t2"],
    "command": ["", "make test", "true"],
    "verify": [[], ["make test"], ["true", "true"]],
    "category": ["", "bug", "docs"],
}
