"""Git processes that stay to write what every change needs: a commit on top of main, and refs of our own.

Not for the user's branch: a process that stays puts the time of its first write into every reflog.
"""

from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.resident import Resident, whole_lines

_DONE = ["start: ok", "prepare: ok", "commit: ok"]


class Scribe:
    """Writes as durably as the git it is made of."""

    def __init__(self, git: Git, scratch: Path) -> None:
        self._scratch = scratch
        self._objects = Resident(git, "hash-object", "-w", "-t", "commit", "--no-filters", "--stdin-paths")
        self._refs = Resident(git, "update-ref", "--stdin")

    async def commit(self, content: bytes) -> str:
        """Write a commit object; its id."""
        import tempfile  # noqa: PLC0415 - slow to import, and only landing needs it

        self._scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._scratch, prefix="commit-") as file:
            file.write(content)
            file.flush()
            question = f"{file.name}\n".encode("utf-8", "surrogateescape")
            (line,) = await self._objects.ask(question, lambda answers: whole_lines(answers, 1))
        return line

    async def set_refs(self, changes: str) -> None:
        """All of these changes, in the words of `update-ref --stdin`, or none."""
        question = f"start\n{changes}prepare\ncommit\n".encode()
        said = await self._refs.ask(question, lambda answers: whole_lines(answers, len(_DONE)))
        if said != _DONE:
            raise GitFailed("update-ref", " ".join(said))

    async def close(self) -> None:
        """End the processes."""
        await self._objects.close()
        await self._refs.close()
