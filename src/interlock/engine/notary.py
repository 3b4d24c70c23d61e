"""Puts statements about landed commits into git notes, signed with the user's key where that is wanted."""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from interlock import __version__
from interlock.engine.settings import Settings
from interlock.events.facts import CandidateJoined
from interlock.events.state import TaskState
from interlock.git.lineage import read_lineage
from interlock.git.notes import noted, write_notes
from interlock.git.place import Place
from interlock.git.push import push_notes
from interlock.git.signing import Signing, read_signing
from interlock.model.errors import EnvironmentProblem
from interlock.model.task import Commit, TaskId
from interlock.store.protocol import Store
from interlock.train.statement import Known, Stated, Told, envelope, signed_bytes, statement, told

NAMED = 3
"""The most tasks that the message of one commit of the notes names."""


@dataclass(frozen=True, slots=True)
class Notary:
    """Writes the statements of one repository."""

    place: Place
    mode: str
    """The setting `statements`."""
    clean: Callable[[str], str]
    is_pushed: bool = False
    """The notes are pushed to the remote of the branch too."""

    async def noted(self) -> Collection[Commit]:
        """List the commits that have a statement."""
        return await noted(self.place.git)

    async def known(self, made: Told, task: TaskState, branch: str) -> Known:
        """Collect what the facts about the task do not say."""
        landed, passed = task.change.landed, made.passed
        prompt = f"logs/{passed.task}/{passed.attempt}.prompt.md"
        digests = await asyncio.to_thread(self._digests, (prompt, *(check.log for check in passed.checks)))
        return Known(
            version=__version__,
            branch=(landed.branch if landed else "") or branch,
            log=log_name(self.place),
            evidence=landed.evidence if landed else None,
            prompt=digests.pop(prompt, ""),
            outputs=digests,
        )

    def _digests(self, paths: Sequence[str]) -> dict[str, str]:
        """Digests of files of the state folder, of those that are still there."""
        found = {path: _digest(self.place.state / path) for path in paths if path}
        return {path: digest for path, digest in found.items() if digest}

    async def write(self, commits: Sequence[Sequence[Stated]]) -> None:
        """Write the statements about these commits, each of one or several landings, in one commit of the
        notes."""
        signing, notes = await self._signing(), {}
        for landings in commits:
            payload = statement(landings, self.clean)
            signature = await signing.sign(signed_bytes(payload)) if signing else b""
            notes[landings[0][0].passed.commit] = envelope(payload, signature)
        names = [made.passed.task for landings in commits for made, _ in landings]
        tasks = ", ".join(names[:NAMED])
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        place = self.place
        await write_notes(place, notes, f"interlock: state how {tasks}{more} landed")

    async def push(self) -> str:
        """Push the notes, if that is wanted; return why it does not work, or nothing."""
        if not self.is_pushed or not await self.noted():
            return ""
        try:
            return await push_notes(self.place)
        except EnvironmentProblem as problem:
            return str(problem)

    async def _signing(self) -> Signing | None:
        """Return the user's key; None if statements are not signed here."""
        if self.mode == "unsigned":
            return None
        place = self.place
        user = replace(place.git, as_user=True)
        signing = await read_signing(user, place.work_tree or place.common_dir)
        return signing if self.mode == "signed" or signing.is_usual else None

    async def try_signing(self) -> bool:
        """Return True if statements are signed here. Raises if they should be and that fails."""
        signing = await self._signing()
        if signing:
            await signing.sign(b"Interlock tries to sign")
        return signing is not None


async def told_of_all(store: Store, name: TaskId, commit: Commit) -> list[Told]:
    """Return what the log says of all landings that are this commit, in their order; one of `name` is."""
    made = told(await store.about_task(name), commit)
    if made is None:
        return []
    if not isinstance(made.passed, CandidateJoined) or made.passed.joined is None:
        return [made]
    found = [told(await store.about_task(each), commit) for each in made.passed.joined.tasks]
    return [each for each in found if each]


def notary_of(place: Place, settings: Settings, clean: Callable[[str], str]) -> Notary | None:
    """Return what writes statements, as the settings say; None: there are none."""
    if settings.statements == "off":
        return None
    return Notary(place, settings.statements, clean, is_pushed=settings.land == "push")


def log_name(place: Place) -> str:
    """A digest that names the log of a repository: the lineage itself has the name of its folder."""
    lineage = read_lineage(place.state)
    return hashlib.sha256(f"interlock {lineage}".encode()).hexdigest()[:16] if lineage else ""


def _digest(path: Path) -> str:
    """Digest of a regular file; empty if there is none."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
