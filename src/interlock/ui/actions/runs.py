"""Start a run that goes on without a terminal."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from interlock.git.discover import discover
from interlock.model.errors import UsageError
from interlock.ui.plain import inert

LOOK_SECONDS = 0.2
OUTPUT = "logs/background-run.log"
TAIL_BYTES = 2_000


async def start_run(folder: Path, is_live: Callable[[], Awaitable[bool]]) -> dict[str, object]:
    """Start `interlock run` in a process of its own, and wait until it is in charge or has ended."""
    if await is_live():
        raise UsageError("a run is active already", "interlock status")
    place = await discover(folder)
    place.ensure_state()
    output = place.state / OUTPUT
    process = _start(folder, output)
    while (code := process.poll()) is None:
        if await is_live():
            return {"started": process.pid, "output": str(output)}
        await asyncio.sleep(LOOK_SECONDS)
    said = inert(output.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace"))
    return {"exit_code": code, "said": said, "output": str(output)}


def _start(folder: Path, output: Path) -> "subprocess.Popen[bytes]":
    output.parent.mkdir(parents=True, exist_ok=True)
    words = (sys.executable, "-m", "interlock", "--project", str(folder), "run", "--no-input")
    with output.open("wb") as file:
        return subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
