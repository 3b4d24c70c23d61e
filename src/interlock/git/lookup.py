"""One git process that answers what names stand for, as long as it is kept open.

Most questions to git are this one, and starting a process takes longer than the answer. Git reads refs and
looks for objects anew for each question, so that an answer is never older than the question.
"""

import asyncio
from collections.abc import Sequence

from interlock.git.command import BATCH_CHECK, Git, end, named, start


class Lookup:
    """Answers questions one after the other. A process that died is replaced once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._child: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def names(self, revisions: Sequence[str]) -> list[str | None]:
        """The object each revision stands for, or nothing where there is none."""
        async with self._lock:
            try:
                return await self._ask(revisions)
            except (EOFError, OSError):
                await self._drop()
                return await self._ask(revisions)
            except asyncio.CancelledError:
                await self._drop()  # its answer would be taken for the next one's
                raise

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            await self._drop()

    async def _ask(self, revisions: Sequence[str]) -> list[str | None]:
        if self._child is None:
            self._child = await start(self._git, "cat-file", BATCH_CHECK)
        child = self._child
        if child.stdin is None or child.stdout is None:
            raise EOFError
        child.stdin.write("".join(f"{revision}\n" for revision in revisions).encode())
        await child.stdin.drain()
        lines = [await child.stdout.readline() for _ in revisions]
        if not all(line.endswith(b"\n") for line in lines):
            raise EOFError
        return [named(line.decode("utf-8", "backslashreplace").rstrip("\n")) for line in lines]

    async def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await end(child)
