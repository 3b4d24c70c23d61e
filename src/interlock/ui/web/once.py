"""Actions that are asked for twice and done once.

A browser that gets no answer does not know if its action was done, and some browsers send it again by
themselves. A request with a key (`Idempotency-Key`) is done once, also if the server is killed meanwhile:

1. The key is written down before the action, and the answer after it.
2. The same key again gets that answer. A key without an answer is refused: the server ended while it did the
   action, and only the log tells how far it came.
3. An action that was refused is forgotten: nothing was done.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from interlock.model.errors import StoreUnavailable, UsageError, UserError

FILE = "actions.jsonl"
KEPT = 1_000
"""Keys that are known. A page sends an action again within minutes."""


class Entry(msgspec.Struct):
    """A line of the file. The last line of a key counts."""

    key: str
    asked: str = ""
    """The digest of the action and its body; empty: forget the key."""
    answer: msgspec.Raw = msgspec.Raw(b"null")


class Once:
    """The actions of one project that came with a key."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._known = _read(self._path)
        self._is_open = False
        self._lock = asyncio.Lock()

    async def do(self, key: str, asked: bytes, work: Callable[[], Awaitable[object]]) -> object:
        """The answer of the action, which is done unless it was done under this key before."""
        digest = hashlib.sha256(asked).hexdigest()
        async with self._lock:
            if (known := self._known.get(key)) is not None:
                return _again(known, digest)
            self._write(Entry(key, digest), at_once=True)
            try:
                answer = await work()
            except StoreUnavailable:
                raise  # it cannot be known if the fact was written
            except UserError:
                self._write(Entry(key))
                raise
            self._write(Entry(key, digest, msgspec.Raw(msgspec.json.encode(answer))))
            return answer

    def _write(self, entry: Entry, *, at_once: bool = False) -> None:
        if not self._is_open:
            self._shorten()
        _keep(self._known, entry)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            if at_once:
                file.flush()
                os.fsync(file.fileno())

    def _shorten(self) -> None:
        """Write the file anew, with the keys that are known."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._path.with_name(f"{FILE}.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in self._known.values()))
        fresh.replace(self._path)
        self._is_open = True


def _again(known: Entry, digest: str) -> object:
    if known.asked != digest:
        raise UsageError("this key was used for another action", "use a new key for each action")
    if bytes(known.answer) == b"null":
        raise UsageError(
            "the server ended while it did this", "look if it was done, and do it again if it was not"
        )
    return known.answer


def _keep(known: dict[str, Entry], entry: Entry) -> None:
    known.pop(entry.key, None)
    if entry.asked:
        known[entry.key] = entry
    while len(known) > KEPT:
        del known[next(iter(known))]


def _read(path: Path) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    with suppress(OSError):
        for line in path.read_bytes().splitlines():
            with suppress(msgspec.MsgspecError):  # the last line may be cut off
                _keep(found, msgspec.json.decode(line, type=Entry))
    return found
