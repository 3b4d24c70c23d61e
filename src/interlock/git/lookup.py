"""One git process that answers what names stand for, as long as it is kept open.

Most questions to git are this one, and starting a process takes longer than the answer. Git reads refs and
looks for objects anew for each question, so that an answer is never older than the question.
"""

import asyncio
from collections.abc import Sequence

from interlock.git.command import BATCH_CHECK, Git, end, named, start
from interlock.git.errors import GitFailed


class Lookup:
    """Answers questions one after the other. A process that died or hangs is replaced once per question."""

    def __init__(self, git: Git, patience_seconds: float = 60.0) -> None:
        self._git = git
        self._patience_seconds = patience_seconds
        self._child: asyncio.subprocess.Process | None = None
        """Only ever one that owes no answer: the next question would get it."""
        self._lock = asyncio.Lock()

    async def names(self, revisions: Sequence[str]) -> list[str | None]:
        """The object each revision stands for, or nothing where there is none."""
        async with self._lock:
            try:
                return await self._ask(revisions)
            except (EOFError, OSError):
                pass
            try:
                return await self._ask(revisions)
            except (EOFError, OSError) as error:
                raise GitFailed("cat-file", f"no answer, twice: {error!r}") from error

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            child, self._child = self._child, None
            if child is not None:
                await end(child)

    async def _ask(self, revisions: Sequence[str]) -> list[str | None]:
        child, self._child = self._child, None
        if child is None:
            child = await start(self._git, "cat-file", BATCH_CHECK, errors=asyncio.subprocess.DEVNULL)
        try:
            async with asyncio.timeout(self._patience_seconds):
                answers = await _answers(child, revisions)
            self._child = child
        finally:
            if self._child is None:
                await end(child)
        return answers


async def _answers(child: asyncio.subprocess.Process, revisions: Sequence[str]) -> list[str | None]:
    assert child.stdin is not None  # noqa: S101 - started with pipes, just above
    assert child.stdout is not None  # noqa: S101 - the same
    # Not waiting for it to be read: git may first want to get rid of its answers.
    child.stdin.write("".join(f"{revision}\n" for revision in revisions).encode())
    lines = [await child.stdout.readline() for _ in revisions]
    if not all(line.endswith(b"\n") for line in lines):
        raise EOFError
    return [named(line.decode("utf-8", "backslashreplace").rstrip("\n")) for line in lines]
