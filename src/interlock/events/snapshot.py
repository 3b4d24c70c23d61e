"""State as bytes, so that a long log need not be folded from its beginning.

A snapshot is only a shortcut: it names the fact it was taken at, and one that does not fit the log or this
version of the code is thrown away. The chain of the log does not cover it, so it begins with a digest of its
own bytes: no decision may come from a damaged one.
"""

import hashlib

import msgspec

from interlock.events.facts import kinds
from interlock.events.state import State
from interlock.events.versions import FIRST, SHAPES

VERSION = 38
"""Raise it whenever State or the fold changes meaning. A new kind of fact need not: `READS` has it."""
READS = sorted((kind, SHAPES.get(kind, FIRST).version) for kind in kinds())
"""The kinds that were folded. A newer version must not start from a state without some of its kinds."""


def pack(state: State) -> bytes:
    return sealed(msgspec.msgpack.encode({"version": VERSION, "reads": READS, "state": state}))


def sealed(text: bytes) -> bytes:
    """The bytes after their digest."""
    return hashlib.sha256(text).digest() + text


def unpack(data: bytes, hash: str) -> State | None:
    """The state again, if this version took it at the fact with this hash, and no byte has changed since."""
    text = data[hashlib.sha256().digest_size :]
    if data != sealed(text):
        return None
    try:
        envelope = msgspec.msgpack.decode(text, type=_Envelope)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None
    fits = (envelope.version, envelope.reads, envelope.state.hash) == (VERSION, READS, hash)
    return envelope.state if fits else None


class _Envelope(msgspec.Struct):
    version: int
    state: State
    reads: list[tuple[str, int]] = []
