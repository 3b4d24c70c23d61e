"""State as bytes, so that a long log need not be folded from its beginning.

A snapshot is only a shortcut: it names the fact it was taken at, and one that does not fit the log or this
version of the code is thrown away.
"""

import msgspec

from interlock.events.state import State

VERSION = 11
"""Raise it whenever State or the fold changes meaning."""


def pack(state: State) -> bytes:
    """The state as bytes."""
    return msgspec.json.encode({"version": VERSION, "state": state})


def unpack(data: bytes, hash: str) -> State | None:
    """The state again, if it was taken at the fact with this hash by this version."""
    try:
        envelope = msgspec.json.decode(data, type=_Envelope, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None
    return envelope.state if envelope.version == VERSION and envelope.state.hash == hash else None


class _Envelope(msgspec.Struct):
    version: int
    state: State
