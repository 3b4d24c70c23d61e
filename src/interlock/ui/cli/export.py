"""`events --export FILE`: the log in a file. It never replaces facts that the log does not have."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import msgspec

from interlock.events.record import Recorded
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.store.protocol import Store
from interlock.ui.cli.writing import replacing

_START = b'{"seq":1,'


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The export that the file holds already."""

    facts: int = 0
    last_hash: str = ""


async def export(store: Store, path: Path, force: bool) -> int:
    """Write all facts; refuse to replace another file, or an export with facts that the log lacks."""
    if path.exists() and not path.is_file():  # also behind a link, as /dev/stdout is one
        return await _into_device(store, path)
    earlier = _Earlier() if force else _earlier(path)
    count, met = 0, ""
    with replacing(path, 0o600) as file:  # for its owner alone: the log holds prompts and output of agents
        async for text in store.export():
            file.write(text.rstrip("\n") + "\n")
            count += 1
            if count == earlier.facts:
                met = _hash(text.encode())
        if count < earlier.facts:
            raise UsageError(
                f"{path} holds {earlier.facts} facts, and the log only {count}",
                f"`interlock events --import {shlex.quote(str(path))}` fills an empty log from it; "
                f"`interlock events --export {shlex.quote(str(path))} --force` replaces it",
            )
        if met != earlier.last_hash:
            raise _foreign(path)
    return count


def _earlier(path: Path) -> _Earlier:
    if path.is_symlink():
        raise _refusal(path, "is a link")
    count, last = 0, b""
    try:
        with path.open("rb") as file:
            if file.read(len(_START)) not in (_START, b""):
                raise _foreign(path)
            file.seek(0)
            for count, last in enumerate(file, 1):  # noqa: B007 - both are used after the loop
                pass
    except FileNotFoundError:
        return _Earlier()
    except OSError as error:
        raise EnvironmentProblem(f"cannot read {path}: {error.strerror}", "choose another place") from None
    if not count:
        return _Earlier()
    if not (last_hash := _hash(last)):
        raise _foreign(path)
    return _Earlier(count, last_hash)


async def _into_device(store: Store, path: Path) -> int:
    """Write to a pipe or a device: there is nothing in it to lose."""
    count = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            async for text in store.export():
                file.write(text.rstrip("\n") + "\n")
                count += 1
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {path}: {error.strerror}", "choose another place") from None
    return count


def _hash(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=Recorded).hash
    except (msgspec.MsgspecError, ValueError):
        return ""


def _foreign(path: Path) -> UsageError:
    return _refusal(path, "is not an export of this log")


def _refusal(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path} {why}",
        f"name another file; `interlock events --export {shlex.quote(str(path))} --force` replaces it",
    )
