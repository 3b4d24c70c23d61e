"""A fact as it stands in the log: numbered, dated, signed and chained to the one before.

The hash covers the stored text, so no canonical form is needed: what was written is what is checked.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from interlock.events.facts import Fact, kinds
from interlock.events.limits import within_limits
from interlock.events.versions import ANY, FIRST, SHAPES, marked, marks_of, upcast
from interlock.model.errors import BrokenChain, EnvironmentProblem

GENESIS = "0" * 64
_NO_FACT = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""Raised for a body that does not fit its kind of fact, or is no JSON at all."""
_WORD_LENGTH = 40


class UnknownFact(EnvironmentProblem):
    """The log has a fact of a newer version, and nothing may be decided without it."""

    code = "unknown-fact"
    retryable = False


@dataclass(frozen=True, slots=True)
class Unreadable(Fact):
    """Represents a row of an unknown kind, version or value, or whose body does not fit its kind. It
    stays in the log and changes nothing."""

    kind: str
    is_needed: bool = False
    """True if a version that does not know this row may decide nothing from the log."""
    needs: str = ""
    """The oldest Interlock that knows it; empty: the row does not say."""
    what: str = ""
    """The part that is not known."""


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
        return decode(self.kind, self.body)


@cache
def _decoder(kind: str) -> msgspec.json.Decoder[Fact] | None:
    """Return the decoder of a kind; None if this version does not know it."""
    known = kinds().get(kind)
    return msgspec.json.Decoder(known, strict=False) if known else None


def encode(fact: Fact) -> tuple[str, str]:
    """The kind and the JSON body of a fact, with its numbers inside their limits."""
    fact = within_limits(fact)
    try:
        text = msgspec.json.encode(fact).decode()
    except UnicodeEncodeError:  # half a character, as a file name of an agent may hold
        text = json.dumps(msgspec.to_builtins(fact), ensure_ascii=False)
        text = text.encode(errors="replace").decode()
    kind = type(fact).__name__
    return kind, marked(kind, text)


def decode(kind: str, body: str) -> Fact:
    """Decode a fact that this version or an older one wrote. For any body this returns a fact."""
    decoder, known = _decoder(kind), SHAPES.get(kind, FIRST).version
    marks = marks_of(body)
    if decoder is None:
        return _unknown(kind, body, "its kind")
    if marks.version > known and marks.needs != ANY:
        return _unknown(kind, body, f"version {marks.version} of its kind")
    try:
        if marks.version < known:
            old = msgspec.json.decode(body, type=dict[str, Any])
            body = msgspec.json.encode(upcast(kind, marks.version, old)).decode()
        return within_limits(decoder.decode(body))
    except (*_NO_FACT, LookupError, TypeError, AttributeError):
        return _readable_part(kind, body)


def _unknown(kind: str, body: str, what: str) -> Unreadable:
    """Represent a row that this version does not know. The row says if that version may go on. A row that
    does not say is needed: to lose its meaning without a message would be worse."""
    needs = marks_of(body).needs
    return Unreadable(kind) if needs == ANY else Unreadable(kind, is_needed=True, needs=needs, what=what)


def _readable_part(kind: str, body: str) -> Fact:
    """The fact without the fields that make no sense, if it can do without them."""
    known = kinds()[kind]
    hints = get_type_hints(known)
    matters = marks_of(body).needs not in ("", ANY)
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
                if _is_required(field) or (
                    matters and _new_word(hints[field.name], _plain(said[field.name]))
                ):
                    raise
        return within_limits(known(**found))
    except (*_NO_FACT, TypeError):
        word = _new_word(known, _plain(msgspec.Raw(body.encode(errors="replace"))))
        return _unknown(kind, body, word) if word else Unreadable(kind)


# Any: a field of any type.
def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _plain(value: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(value)
    except _NO_FACT:
        return None


# Any: a value as JSON has it.
def _new_word(hint: Any, value: Any) -> str:
    """Quote the first word that is not in this version's list for its field; empty: there is none."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        is_new = isinstance(value, str) and value not in {member.value for member in hint}
        return f"`{value[:_WORD_LENGTH]}`" if is_new else ""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        parts = value.items() if isinstance(value, dict) else ()
        return next(filter(None, (_new_word(hints[k], v) for k, v in parts if k in hints)), "")
    if isinstance(value, list):
        return next(filter(None, (_new_word(e, item) for item in value for e in get_args(hint)[:1])), "")
    return next(filter(None, (_new_word(each, value) for each in get_args(hint))), "")


def chain(previous: str, seq: int, time: float, actor: str, kind: str, body: str) -> str:
    """The hash that ties a row to the one before it."""
    text = "\n".join((previous, str(seq), repr(time), actor, kind, body))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(previous: str, seq: int, time: float, actor: str, fact: Fact) -> Recorded:
    kind, body = encode(fact)
    return Recorded(seq, time, actor, kind, body, chain(previous, seq, time, actor, kind, body))


def verify_chain(rows: Iterable[Recorded], previous: str = GENESIS, expected: int = 1) -> int:
    """Check the rows of a log from its first one, or from the one that follows the hash `previous`: how many
    facts there are up to the last of them, or `BrokenChain` naming the first bad one."""
    for row in rows:
        if row.seq != expected:
            raise broken(expected, f"is missing or out of order (found {row.seq} {row.kind})")
        if row.hash != chain(previous, row.seq, row.time, row.actor, row.kind, row.body):
            raise broken(row.seq, f"({row.kind}) was changed, or the one before it was replaced")
        previous, expected = row.hash, expected + 1
    return expected - 1


def broken(seq: int, how: str) -> BrokenChain:
    return BrokenChain(f"the log is broken: fact {seq} {how}", keep_before(seq))


def keep_before(seq: int) -> str:
    keep = f"`interlock events --export all.ndjson` and `head -n {seq - 1} all.ndjson > good.ndjson`"
    return (
        f"to keep the facts before it: {keep}, then move the log away and "
        "`interlock events --import good.ndjson`; or import your last export"
    )
