"""A git process that stays to be asked, because starting one takes longer than most answers.

Git reads refs and looks for objects anew for each question, so that no answer is older than its question.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from interlock.git.command import Git, end, start
from interlock.git.errors import GitFailed

T = TypeVar("T")
Reader = Callable[[asyncio.StreamReader], Awaitable[T]]


class Resident:
    """Answers one question after the other. A process that died or hangs is replaced once per question.

    So a question may be asked twice, and must do no harm the second time.
    """

    def __init__(self, git: Git, *argv: str, patience_seconds: float = 60.0) -> None:
        self._git = git
        self._argv = argv
        self._patience_seconds = patience_seconds
        self._child: asyncio.subprocess.Process | None = None
        """The process, if it owes no answer: the next question would get that one."""
        self._lock = asyncio.Lock()

    async def ask(self, question: bytes, read: Reader[T]) -> T:
        """Ask, and have the answer read; `read` raises `EOFError` if it is not whole."""
        async with self._lock:
            try:
                return await self._ask(question, read)
            except (EOFError, OSError):
                pass
            try:
                return await self._ask(question, read)
            except (EOFError, OSError) as error:
                raise GitFailed(self._argv[0], f"no answer from two processes: {error!r}") from error

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            child, self._child = self._child, None
            if child is not None:
                await end(child)

    async def _ask(self, question: bytes, read: Reader[T]) -> T:
        child, self._child = self._child, None
        if child is None:
            child = await start(self._git, *self._argv, errors=asyncio.subprocess.DEVNULL)
        try:
            assert child.stdin is not None  # noqa: S101 - started with pipes, just above
            assert child.stdout is not None  # noqa: S101 - the same
            async with asyncio.timeout(self._patience_seconds):
                # Not waiting for it to be read: git may first want to get rid of its answers.
                child.stdin.write(question)
                answer = await read(child.stdout)
            self._child = child
        finally:
            if self._child is None:
                await end(child)
        return answer


async def whole_lines(answers: asyncio.StreamReader, count: int) -> list[str]:
    """Read this many lines, and return them without their line ends."""
    lines = [await answers.readline() for _ in range(count)]
    if not all(line.endswith(b"\n") for line in lines):
        raise EOFError
    return [line.decode("utf-8", "backslashreplace").rstrip("\n") for line in lines]
