"""The record of an attempt's calls: a line of JSON for each, with nothing secret in it.

Beside it are the counts of calls that have not ended: a crash must not lose what was paid for.

Programs send the whole conversation with every call. A message is written the first time it is seen and
counted after that, or the file would grow with the square of the conversation.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from interlock.model.redact import Redactor
from interlock.model.session import Usage
from interlock.proxy.json_values import items_at, value_at
from interlock.proxy.order import CallError

TEXT_CHARACTERS = 16 * 1024
"""Length of one text in a message."""
ENTRY_CHARACTERS = 256 * 1024
"""Length of the messages in one entry; the oldest are left out."""
ANSWER_CHARACTERS = 64 * 1024
MODEL_CHARACTERS = 200
FILE_BYTES = 256 * 1024 * 1024
_EDGE_CHARACTERS = 16 * 1024
"""Looked at beyond each limit, so that a secret that stands across it is seen whole."""


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One call as it is recorded."""

    at_seconds: float
    """Since the endpoint opened."""
    seconds: float
    method: str
    path: str
    status: int
    model: str
    usage: Usage
    request: object
    answer: str
    trouble: CallError | None
    note: str = ""
    removed: tuple[str, ...] = ()
    """The tools and fields of the request that were not passed on."""
    call: str = ""
    """The id of the call among the counts."""


class Transcript:
    """Appends entries to a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts = counts_beside(path)
        self._seen: set[bytes] = set()

    def add(self, entry: TranscriptEntry, redactor: Redactor) -> None:
        line = json.dumps(self._record(entry, redactor), ensure_ascii=False, default=str)
        self._append(self._path, line.encode(errors="replace") + b"\n")

    def count(self, call: str, model: str, usage: Usage) -> None:
        """Note what a call under way has used so far; its entry comes in the place of that."""
        line = {"call": call, "model": model, "usage": _set_fields(usage)}
        self._append(self._counts, json.dumps(line).encode() + b"\n")

    def _append(self, path: Path, line: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(file).st_size + len(line) <= FILE_BYTES:
                os.write(file, line)
        finally:
            os.close(file)

    def _record(self, entry: TranscriptEntry, redactor: Redactor) -> dict[str, object]:
        messages = list(_messages(entry.request))
        fresh = [message for message in messages if self._is_new(message)]
        shown = _latest([_shortened(message, redactor) for message in fresh])
        trouble = entry.trouble
        return {
            "at_seconds": round(entry.at_seconds, 3),
            "seconds": round(entry.seconds, 3),
            "method": entry.method,
            "path": redactor.clean(entry.path),
            "status": entry.status,
            "model": redactor.clean(entry.model)[:MODEL_CHARACTERS],
            "usage": _set_fields(entry.usage),
            "error": trouble and {"class": trouble.error, "text": redactor.clean(trouble.text)},
            "note": entry.note,
            "removed": [redactor.clean(name) for name in entry.removed],
            "messages_before": len(messages) - len(shown),
            "messages": shown,
            "answer": redactor.clean(entry.answer)[:ANSWER_CHARACTERS],
            "call": entry.call,
        }

    def _is_new(self, message: object) -> bool:
        digest = blake2b(json.dumps(message, sort_keys=True).encode(), digest_size=12).digest()
        is_new = digest not in self._seen
        self._seen.add(digest)
        return is_new


def counts_beside(transcript: Path) -> Path:
    """The file with the counts of calls under way."""
    return transcript.with_suffix(".counts.jsonl")


def _set_fields(usage: Usage) -> dict[str, object]:
    return {name: value for name, value in asdict(usage).items() if value is not None}


def _messages(request: object) -> Iterator[object]:
    """Yield the conversation so far, in any of the dialects, without tools and settings."""
    for name in ("system", "instructions", "systemInstruction", "prompt"):
        if value_at(request, name):
            yield {name: value_at(request, name)}
    for name in ("messages", "contents", "input"):
        if isinstance(value_at(request, name), str):
            yield {name: value_at(request, name)}
        yield from items_at(request, name)


def _shortened(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        clean = redactor.clean(value[: TEXT_CHARACTERS + _EDGE_CHARACTERS])
        return clean if len(clean) <= TEXT_CHARACTERS else clean[:TEXT_CHARACTERS] + "... (cut)"
    if isinstance(value, list):
        return [_shortened(item, redactor) for item in value]
    if isinstance(value, dict):
        return {redactor.clean(str(key)): _shortened(item, redactor) for key, item in value.items()}
    return value


def _latest(messages: list[object]) -> list[object]:
    """Return as many of the last messages as an entry has room for."""
    room = ENTRY_CHARACTERS
    for index in range(len(messages) - 1, -1, -1):
        room -= len(json.dumps(messages[index], ensure_ascii=False))
        if room < 0:
            return messages[index + 1 :]
    return messages
