"""A fact as it stands in the log: numbered, dated, signed and chained to the one before.

The hash covers the stored text, so no canonical form is needed: what was written is what is checked.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import msgspec

from interlock.events.facts import Fact, kinds
from interlock.model.errors import BrokenChain, EnvironmentProblem

GENESIS = "0" * 64


class UnknownFact(EnvironmentProblem):
    """The log was written by a newer version."""

    code = "unknown-fact"
    hint = "install a newer version of Interlock: `interlock --version` shows this one"
    retryable = False


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
    """The kind and the JSON body of a fact."""
    return type(fact).__name__, msgspec.json.encode(fact).decode()


def decode(kind: str, body: str) -> Fact:
    """The fact that `encode` wrote."""
    return _decoder(kind).decode(body)


def chain(previous: str, seq: int, time: float, actor: str, kind: str, body: str) -> str:
    """The hash that ties a row to the one before it."""
    text = "\n".join((previous, str(seq), repr(time), actor, kind, body))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(previous: str, seq: int, time: float, actor: str, fact: Fact) -> Recorded:
    """A fact as the row that follows the one with hash `previous`."""
    kind, body = encode(fact)
    return Recorded(seq, time, actor, kind, body, chain(previous, seq, time, actor, kind, body))


def verify_chain(rows: Iterable[Recorded]) -> int:
    """Check a whole log from its first row: how many facts, or `BrokenChain` naming the first bad one."""
    previous, expected = GENESIS, 1
    for row in rows:
        if row.seq != expected:
            raise BrokenChain(f"fact {expected} is missing or out of order (found {row.seq} {row.kind})")
        if row.hash != chain(previous, row.seq, row.time, row.actor, row.kind, row.body):
            raise BrokenChain(f"fact {row.seq} ({row.kind}) was changed, or the one before it was replaced")
        previous, expected = row.hash, expected + 1
    return expected - 1
