"""Verifies commits by their statements: offline, and against the log if it is the one they were made from."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from interlock.engine.loading import load_state
from interlock.engine.notary import log_name, told_of_all
from interlock.events.finished import unpacked
from interlock.events.state import State
from interlock.git.command import Git
from interlock.git.notes import REF, read_notes
from interlock.git.place import Place
from interlock.git.signing import Checked, Signing, Standing, read_signing
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.redact import Redactor, secret_values
from interlock.model.steering import steering
from interlock.model.task import Commit, TaskId
from interlock.store.protocol import Store
from interlock.train import proof
from interlock.train.proof import CommitOnBranch, Flaw, Judged, Opened, Part
from interlock.train.statement import Known, Statement, signed_bytes

EXAMPLE = "for example: interlock verify main~20..main"
_AT_ONCE = 4
"""The most programs that check a signature at the same time."""
_AS_WRITTEN = {
    "GIT_SHALLOW_FILE": "",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.commitGraph",
    "GIT_CONFIG_VALUE_0": "false",
}
"""The parents of a commit are those that it names itself. Grafts and replaced objects never count."""


class CutOff(EnvironmentProblem):
    """The commits end where the clone is shallow."""

    code = "shallow"
    hint = "git fetch --unshallow"
    retryable = False


class Damaged(EnvironmentProblem):
    """An object of the repository is not what its id says."""

    code = "damaged-object"
    hint = "git fsck"
    retryable = False


class NoStatements(EnvironmentProblem):
    """The repository has no notes of Interlock."""

    code = "no-statements"
    hint = f"git fetch origin {REF}:{REF}"
    retryable = False


@dataclass(frozen=True, slots=True)
class Means:
    """The facts that statements are compared with."""

    place: Place
    store: Store | None
    """The log; None: it cannot be used."""
    signers: Path | None = None
    """The allowed SSH signers, in place of those of git."""
    allow_unsigned: bool = False
    clean: Callable[[str], str] = field(default_factory=lambda: Redactor(secret_values(os.environ)).clean)
    """Takes secrets out of commands."""


async def verify(means: Means, revision: str) -> list[Judged]:
    """Judge the commits of a range along first parents, or one commit; the newest first."""
    git = means.place.git.having(**_AS_WRITTEN)
    commits = await _commits(means.place, git, revision)
    notes = await read_notes(git, commits)
    if not notes and not (await git.names(REF))[0]:
        raise NoStatements(f"there are no statements here ({REF})")
    contents = await git.objects(commits)
    for commit, (kind, content) in zip(commits, contents, strict=True):
        if means.place.object_id(kind.decode(), content) != commit:
            raise Damaged(f"the object {commit} is not the commit of this name")
    user = replace(means.place.git, as_user=True)
    signing = await read_signing(user, means.place.work_tree or means.place.common_dir)
    turns = asyncio.Semaphore(_AT_ONCE)
    state = await load_state(means.store) if means.store else None

    async def judged(commit: Commit, content: bytes) -> Judged:
        found = proof.commit_on_branch(commit, content)
        if commit not in notes:
            return proof.without_statement(found)
        async with turns:
            return await _judged(means, state, signing, found, notes[commit])

    pairs = zip(commits, contents, strict=True)
    return list(await asyncio.gather(*(judged(commit, content) for commit, (_, content) in pairs)))


async def _commits(place: Place, git: Git, revision: str) -> list[Commit]:
    most = () if ".." in revision else ("--max-count=1",)
    words = ("rev-list", "--first-parent", *most, "--end-of-options", revision, "--")
    said = await git.run(*words, ok=(0, 128, 129))
    if said.code and (place.common_dir / "shallow").exists():
        raise CutOff(f"{revision!r} goes back to before the history that this clone has")
    if said.code:
        raise UsageError(f"{revision!r} names no commit here", EXAMPLE)
    if not said.line:
        raise UsageError(f"{revision!r} holds no commits: nothing was verified", EXAMPLE)
    return [Commit(line) for line in said.line.split()]


async def _judged(
    means: Means, state: State | None, signing: Signing, found: CommitOnBranch, note: bytes
) -> Judged:
    opened = proof.opened(note)
    if opened is None:
        return Judged(found.commit, found.task, Flaw.EDITED, Part.FORM)
    said = opened.statement
    task = next((TaskId(change.task) for change in said.predicate.interlock.changes), found.task)
    judged = Judged(found.commit, task, statement=said, is_signed=bool(opened.signature))
    if part := proof.difference(found, said):
        return replace(judged, flaw=Flaw.EDITED, part=part)
    signature = await _signature(means, signing, opened, found.time)
    if signature and signature.standing is Standing.BAD:
        return replace(judged, flaw=Flaw.EDITED, part=Part.SIGNATURE)
    confirmed = await _confirmed(means, state, found.commit, said)
    if confirmed is False:
        return replace(judged, flaw=Flaw.EDITED, part=Part.LOG)
    judged = replace(judged, signer=signature.signer if signature else "", confirmed=bool(confirmed))
    judged = replace(judged, steering=await _steering(means.place.git, found, said))
    if part := proof.untested(said):
        return replace(judged, flaw=Flaw.UNTESTED, part=part)
    return judged if confirmed else _unvouched(means, judged, signature)


async def _steering(git: Git, found: CommitOnBranch, said: Statement) -> tuple[str, ...]:
    """Return what the commit edits of how its checks run: git knows, so no statement has to say it."""
    if not found.parent:
        return ()
    changes = await git.changes(found.parent, found.commit)
    touched = [change.path.decode("utf-8", "replace") for change in changes]
    return steering(touched, [check.command for check in said.predicate.interlock.checks])


def _unvouched(means: Means, judged: Judged, signature: Checked | None) -> Judged:
    """Judge by the signature alone: there is no log that says the same."""
    if signature is None:
        return judged if means.allow_unsigned else replace(judged, flaw=Flaw.UNSIGNED)
    if signature.standing is Standing.GOOD:
        return judged
    part = Part.NO_SIGNERS if signature.standing is Standing.NO_SIGNERS else None
    return replace(judged, flaw=Flaw.UNKNOWN_SIGNER, part=part)


async def _signature(means: Means, signing: Signing, opened: Opened, when: int) -> Checked | None:
    if not opened.signature:
        return None
    return await signing.check(signed_bytes(opened.payload), opened.signature, when, means.signers)


async def _confirmed(means: Means, state: State | None, commit: Commit, said: Statement) -> bool | None:
    """Return True if the log says the same, False if it says something else; None: it does not know."""
    fact, log = said.predicate.interlock.fact, log_name(means.place)
    if means.store is None or state is None or not log or fact is None or fact.log != log:
        return None
    for name in (TaskId(change.task) for change in said.predicate.interlock.changes):
        if found := await told_of_all(means.store, name, commit):
            known = [_known(state, each.passed.task, commit, log) for each in found]
            landings = [(each, own) for each, own in zip(found, known, strict=True) if own]
            return proof.agrees(said, landings, means.clean) if len(landings) == len(found) else None
    return None


def _known(state: State, name: TaskId, commit: Commit, log: str) -> Known | None:
    """Return what the facts about the task do not say; None: its last landing, or undone one, is another."""
    task = state.tasks.get(name) or (unpacked(state, name) if name in state.done.packed else None)
    landed = (task.change.landed or task.change.undone) if task else None
    if landed is None or landed.commit != commit:
        return None
    return Known(version="", branch=landed.branch or state.main.branch, log=log, evidence=landed.evidence)
