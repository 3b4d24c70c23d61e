"""Git processes that answer the questions which come up several times for every change."""

import asyncio
import os
import uuid
from collections.abc import Sequence

from interlock.git.bounds import OUTPUT_BYTES, too_large
from interlock.git.command import BATCH_CHECK, Git, named
from interlock.git.errors import GitFailed
from interlock.git.resident import Resident, whole_lines

_CHUNK_BYTES = 1 << 16


class Lookup:
    """Resolves names to objects, and lists the differences of two trees."""

    def __init__(self, git: Git, patience_seconds: float = 60.0) -> None:
        self._names = Resident(git, "cat-file", BATCH_CHECK, patience_seconds=patience_seconds)
        words = ("--stdin", "-r", "-z", "--no-renames", "--name-status")
        self._changes = Resident(git, "diff-tree", *words, patience_seconds=patience_seconds)
        self._end = f"end {uuid.uuid4().hex}\n".encode()
        """Git repeats a line that names no object: so an answer has an end. No path can foresee it."""

    async def names(self, revisions: Sequence[str]) -> list[str | None]:
        """Resolve each revision to an object, or None if there is none."""
        question = os.fsencode("".join(f"{revision}\n" for revision in revisions))
        lines = await self._names.ask(question, lambda answers: whole_lines(answers, len(revisions)))
        return [named(line) for line in lines]

    async def changes(self, old: str, new: str) -> bytes:
        """List the differences of two trees in the form of `diff-tree -z --name-status`."""
        question = f"{old} {new}\n".encode()
        said = await self._changes.ask(question + self._end, self._until_the_end)
        if not said.startswith(question):
            raise GitFailed("diff-tree", f"the trees {old} and {new} cannot be read")
        return said.removeprefix(question)

    async def close(self) -> None:
        """End the processes."""
        await self._names.close()
        await self._changes.close()

    async def _until_the_end(self, answers: asyncio.StreamReader) -> bytes:
        said = bytearray()
        while not said.endswith(self._end):
            chunk = await answers.read(_CHUNK_BYTES)
            if not chunk:
                raise EOFError
            said += chunk
            if len(said) > OUTPUT_BYTES:
                raise too_large("the change has too many names", f"{OUTPUT_BYTES >> 20} MiB of names")
        return bytes(said).removesuffix(self._end)
