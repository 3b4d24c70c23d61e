"""A fact as it stands in the log: numbered, dated, signed and chained to the one before.

The hash covers the stored text, so no canonical form is needed: what was written is what is checked.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import get_type_hints

import msgspec

from interlock.events.facts import Fact, kinds
from interlock.events.limits import within_limits
from interlock.model.errors import BrokenChain, EnvironmentProblem

GENESIS = "0" * 64
_NO_FACT = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""Raised for a body that does not fit its kind of fact, or is no JSON at all."""


class UnknownFact(EnvironmentProblem):
    """The log was written by a newer version."""

    code = "unknown-fact"
    hint = "install a newer version of Interlock: `interlock --version` shows this one"
    retryable = False


@dataclass(frozen=True, slots=True)
class Unreadable(Fact):
    """Stands for a row whose body does not fit its kind. It stays in the log and changes nothing."""

    kind: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """One row of the log."""

    seq: int
    time: float
    """Seconds since 1970 by the database's clock."""
    actor: str
    kind: str
    body: str
    """The fact as JSON."""
    hash: str

    @property
    def fact(self) -> Fact:
        """The fact itself."""
        return decode(self.kind, self.body)


@cache
def _decoder(kind: str) -> msgspec.json.Decoder[Fact]:
    if kind not in kinds():
        raise UnknownFact(f"the log holds a fact of the kind {kind}, which this version does not know")
    return msgspec.json.Decoder(kinds()[kind], strict=False)


def encode(fact: Fact) -> tuple[str, str]:
    """The kind and the JSON body of a fact, with its numbers inside their limits."""
    fact = within_limits(fact)
    try:
        return type(fact).__name__, msgspec.json.encode(fact).decode()
    except UnicodeEncodeError:  # half a character, as a file name of an agent may hold
        text = json.dumps(msgspec.to_builtins(fact), ensure_ascii=False)
        return type(fact).__name__, text.encode(errors="replace").decode()


def decode(kind: str, body: str) -> Fact:
    """The fact that `encode` wrote. Whatever the body says, this returns one."""
    try:
        return within_limits(_decoder(kind).decode(body))
    except _NO_FACT:
        return _readable_part(kind, body)


def _readable_part(kind: str, body: str) -> Fact:
    """The fact without the fields that make no sense, if it can do without them."""
    known = kinds()[kind]
    hints = get_type_hints(known)
    found: dict[str, object] = {}
    try:
        said = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        for field in fields(known):
            try:
                if field.name in said:
                    found[field.name] = msgspec.json.decode(
                        said[field.name], type=hints[field.name], strict=False
                    )
            except _NO_FACT:
                if field.default is MISSING:
                    raise
        return within_limits(known(**found))
    except (*_NO_FACT, TypeError):
        return Unreadable(kind)


def chain(previous: str, seq: int, time: float, actor: str, kind: str, body: str) -> str:
    """The hash that ties a row to the one before it."""
    text = "\n".join((previous, str(seq), repr(time), actor, kind, body))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(previous: str, seq: int, time: float, actor: str, fact: Fact) -> Recorded:
    """A fact as the row that follows the one with hash `previous`."""
    kind, body = encode(fact)
    return Recorded(seq, time, actor, kind, body, chain(previous, seq, time, actor, kind, body))


def verify_chain(rows: Iterable[Recorded], previous: str = GENESIS, expected: int = 1) -> int:
    """Check the rows of a log from its first one, or from the one that follows the hash `previous`: how many
    facts there are up to the last of them, or `BrokenChain` naming the first bad one."""
    for row in rows:
        if row.seq != expected:
            raise _broken(expected, f"is missing or out of order (found {row.seq} {row.kind})")
        if row.hash != chain(previous, row.seq, row.time, row.actor, row.kind, row.body):
            raise _broken(row.seq, f"({row.kind}) was changed, or the one before it was replaced")
        previous, expected = row.hash, expected + 1
    return expected - 1


def _broken(seq: int, how: str) -> BrokenChain:
    """The first bad fact, and how to go on without it."""
    keep = f"`interlock events --export all.ndjson` and `head -n {seq - 1} all.ndjson > good.ndjson`"
    return BrokenChain(
        f"the log is broken: fact {seq} {how}",
        f"go on with what is before it: {keep}, then move the log away and "
        "`interlock events --import good.ndjson`; or import your last export",
    )
