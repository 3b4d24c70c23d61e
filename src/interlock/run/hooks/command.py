"""One command of the user: run with JSON on its standard input, for a bounded time, and understood."""

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import msgspec

OBJECTS = 2
"""The exit status that objects, with the reason on standard error."""
REASON_CHARS = 2_000
CLOSING_SECONDS = 1.0
BUFFER_BYTES = 1 << 16
"""The library's own default."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer of a command."""

    blocks: bool = False
    reason: str = ""
    exit_code: int | None = 0
    """None: it took too long, and was ended."""
    seconds: float = 0.0


class _Specific(msgspec.Struct):
    decision: str = msgspec.field(name="permissionDecision", default="")
    reason: str = msgspec.field(name="permissionDecisionReason", default="")


class _Said(msgspec.Struct):
    """The part of a command's JSON that we act on: what agent programs understand, too."""

    decision: str = ""
    reason: str = ""
    specific: _Specific | None = msgspec.field(name="hookSpecificOutput", default=None)


async def ask(command: str, payload: bytes, where: Path, seconds: float) -> HookAnswer:
    """Run a command; whether it objects. One that fails or takes too long does not."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    # A start that is given up half-way would leave its pipes open, and the command running.
    starting = loop.create_task(_start(command, where))
    try:
        process, _ = await asyncio.shield(starting)
        async with asyncio.timeout(seconds):
            out, err = await process.communicate(payload)
    except TimeoutError:
        return HookAnswer(reason=f"ended after {seconds:g} s", exit_code=None, seconds=loop.time() - began)
    finally:
        process, transport = await starting
        # Processes that it started in the background end with it, too.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _until_closed(process, transport)
    return _understood(process.returncode or 0, out, err, loop.time() - began)


async def _start(command: str, where: Path) -> tuple[asyncio.subprocess.Process, asyncio.SubprocessTransport]:
    """Start a command as `create_subprocess_exec` does, and return the transport that closes its pipes."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: asyncio.subprocess.SubprocessStreamProtocol(limit=BUFFER_BYTES, loop=loop),
        "/bin/sh",
        "-c",
        command,
        cwd=where,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    return asyncio.subprocess.Process(transport, protocol, loop), transport


async def _until_closed(process: asyncio.subprocess.Process, transport: asyncio.SubprocessTransport) -> None:
    """Until it is gone and its pipes are closed. What left its group may hold the other ends as long as it
    likes: ours would stay open until they are collected as garbage."""
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await process.communicate()
    finally:
        transport.close()
    await process.wait()
    await asyncio.sleep(0)  # a pipe is closed by the loop, one turn later


def _understood(code: int, out: bytes, err: bytes, seconds: float) -> HookAnswer:
    if code == OBJECTS:
        return HookAnswer(True, _text(err) or _text(out) or "no reason was given", code, seconds)
    if code:
        return HookAnswer(False, _text(err), code, seconds)
    try:
        said = msgspec.json.decode(out, type=_Said)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return HookAnswer(False, "", code, seconds)  # most commands just print something
    specific = said.specific or _Specific()
    blocks = said.decision in ("block", "deny") or specific.decision == "deny"
    reason = (said.reason or specific.reason or "no reason was given")[:REASON_CHARS]
    return HookAnswer(blocks, reason if blocks else "", code, seconds)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()[:REASON_CHARS]
