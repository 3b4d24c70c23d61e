"""Judges a commit by its statement: whether what is on the branch was tested by Interlock as it is.

Rules:
1. A statement counts for one commit: the commit, its tree and its first parent are compared.
2. A signature covers the statement to the byte. Without one, only a log that says the same vouches for it:
   the statement is made from the log again, and all of it is compared.
3. A check that failed counts only if the statement marks it as failing on the base too.
"""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from interlock.model.redact import MARK
from interlock.model.task import Commit, TaskId, Tree
from interlock.train.statement import (
    PAYLOAD,
    PREDICATE,
    STATEMENT,
    Check,
    Envelope,
    Stated,
    Statement,
)
from interlock.train.statement import statement as statement_of

TRAILER = "Interlock-Task: "
UNCONFIRMED = ("version", "changes.prompt", "checks.output")
"""Fields of the extension that no fact has: a log does not vouch for them."""


class Flaw(StrEnum):
    """The fault of a commit."""

    MISSING = "missing"
    """A task landed it, and it has no statement."""
    BY_HAND = "by-hand"
    """It has neither a statement nor the trailer of a landing."""
    EDITED = "edited"
    """The statement, the signature, the commit and the log do not agree."""
    UNTESTED = "untested"
    """No check ran on it, or a failed one has no excuse."""
    UNSIGNED = "unsigned"
    """The statement has no signature, and no log vouches for it."""
    UNKNOWN_SIGNER = "unknown-signer"
    """The signature is good, but not by a signer that is allowed."""


class Part(StrEnum):
    """The part that a flaw is in."""

    FORM = "form"
    SIGNATURE = "signature"
    COMMIT = "commit"
    TREE = "tree"
    BASE = "base"
    LOG = "log"
    NO_CHECK = "no-check"
    CHECK = "check"
    NO_SIGNERS = "no-signers"


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one commit."""

    commit: Commit
    task: TaskId = TaskId("")
    flaw: Flaw | None = None
    part: Part | None = None
    statement: Statement | None = None
    is_signed: bool = False
    signer: str = ""
    """The signer; empty: it is unsigned, or the signer is not known."""
    confirmed: bool = False
    """The log here says the same."""
    steering: tuple[str, ...] = ()
    """Files of the commit that decide how the checks of its statement run."""


@dataclass(frozen=True, slots=True)
class CommitOnBranch:
    """A commit as git has it."""

    commit: Commit
    tree: Tree
    parent: Commit
    """Its first parent; empty: it has none."""
    time: int
    """Seconds since 1970 at which it was committed."""
    task: TaskId
    """The task of its trailer; empty: it has none."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A note, taken apart."""

    statement: Statement
    payload: bytes
    signature: bytes


def commit_on_branch(commit: Commit, content: bytes) -> CommitOnBranch:
    """Read a commit object."""
    head, _, message = content.decode("utf-8", "replace").partition("\n\n")
    fields = [line.split(" ") for line in head.splitlines() if line[:1] != " "]
    tree = next((words[1] for words in fields if words[0] == "tree"), "")
    parent = next((words[1] for words in fields if words[0] == "parent"), "")
    when = next((words[-2] for words in fields if words[0] == "committer"), "0")
    named = [line for line in message.splitlines() if line.startswith(TRAILER)]
    task = named[-1].removeprefix(TRAILER).strip() if named else ""
    return CommitOnBranch(
        commit, Tree(tree), Commit(parent), int(when) if when.isdigit() else 0, TaskId(task)
    )


def opened(note: bytes) -> Opened | None:
    """Take a note apart; None if it is no statement of the known form."""
    try:
        envelope = msgspec.json.decode(note, type=Envelope)
        payload = base64.b64decode(envelope.payload, validate=True)
        signature = (
            base64.b64decode(envelope.signatures[0].sig, validate=True) if envelope.signatures else b""
        )
        statement = msgspec.json.decode(payload, type=Statement)
    except (msgspec.MsgspecError, ValueError, RecursionError, binascii.Error):
        return None
    is_known = (envelope.payload_type, statement.type, statement.predicate_type) == (
        PAYLOAD,
        STATEMENT,
        PREDICATE,
    )
    return Opened(statement, payload, signature) if is_known else None


def without_statement(found: CommitOnBranch) -> Judged:
    return Judged(found.commit, found.task, Flaw.MISSING if found.task else Flaw.BY_HAND)


def difference(found: CommitOnBranch, statement: Statement) -> Part | None:
    """Return the first part of the statement that is not about this commit; None: all of it is."""
    said = statement.predicate.interlock
    if not any(subject.digest.get("gitCommit") == found.commit for subject in statement.subject):
        return Part.COMMIT
    if said.tree.get("gitTree") != found.tree:
        return Part.TREE
    return Part.BASE if said.base.get("gitCommit") != found.parent else None


def untested(statement: Statement) -> Part | None:
    """Return the reason that the commit does not count as tested; None: it does."""
    said = statement.predicate.interlock
    if not said.checks:
        return Part.NO_CHECK
    return None if all(check.is_excused for check in said.checks) else Part.CHECK


def failed(statement: Statement) -> list[Check]:
    return [check for check in statement.predicate.interlock.checks if not check.is_excused]


def agrees(statement: Statement, landings: Sequence[Stated], clean: Callable[[str], str]) -> bool | None:
    """Return True if the statement is the one that the log gives for a commit, and False if it is another.

    None: it is not known. They differ only in commands in which a secret was left out that `clean` does not
    know. `Known` has the evidence and the branch; what a log does not have is in `UNCONFIRMED`.
    """
    said, unclear = statement.predicate.interlock.checks, set[str]()
    ran = dict.fromkeys(check.command for told, _ in landings for check in told.passed.checks)
    shown = {command: check.command for command, check in zip(ran, said, strict=False)}

    def as_shown(command: str) -> str:
        text = shown.get(command, command)
        if text not in (command, clean(command)) and _may_hide(text, command):
            unclear.add(command)
        return text if text == command or command in unclear else clean(command)

    made = msgspec.json.decode(statement_of(landings, as_shown), type=Statement)
    if _bare(made) != _bare(statement):
        return False
    return None if unclear else True


def _may_hide(shown: str, command: str) -> bool:
    """Tell if a command is as it is shown, except where the mark of a secret stands."""
    return (
        MARK in shown
        and re.fullmatch(".+".join(map(re.escape, shown.split(MARK))), command, re.DOTALL) is not None
    )


def _bare(statement: Statement) -> Statement:
    """Leave out what the log does not have: `UNCONFIRMED`."""
    said = statement.predicate.interlock
    bare = replace(
        said,
        version="",
        checks=[replace(check, output={}) for check in said.checks],
        changes=[replace(change, prompt={}) for change in said.changes],
    )
    return replace(statement, predicate=replace(statement.predicate, interlock=bare))
