"""Statements about landed commits, as git notes: anyone who has the commits and the notes can check them.

1. A note holds the statement. If the user's git signs commits, it holds a signed commit object whose message
   is the statement, so git itself signs and verifies it, with any kind of key that it knows.
2. The notes move in the same transaction as the branch, so no crash leaves a landed commit without one.
"""

import tempfile
from dataclasses import dataclass
from enum import StrEnum

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.git.signing import is_wanted, sign_commit
from interlock.model.errors import UsageError
from interlock.model.task import Commit, Tree

NOTES = "refs/notes/interlock"
NOTE_BYTES = 4 << 20
"""No note is longer; what is cut cannot be read."""
_FIELDS = ("%H", "%T", "%P", "%s", "%(trailers:key=Interlock-Task,valueonly)")


class Signature(StrEnum):
    """The worth of the signature of a statement."""

    NONE = "unsigned"
    GOOD = "good"
    UNKNOWN = "unknown-key"
    """The signature fits, but nothing here says whose key it is."""
    BAD = "bad"


_WORTH = {"G": Signature.GOOD, "U": Signature.UNKNOWN, "E": Signature.UNKNOWN}
"""What git's `%G?` says; a key that expired or was revoked is bad."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A commit of the first-parent line, and the note that it carries."""

    commit: Commit
    tree: Tree
    parent: Commit
    subject: str
    task: str
    """The task that its message names; empty: it names none."""
    note: bytes | None


@dataclass(frozen=True, slots=True)
class Signed:
    """The statement of a note, and the worth of its signature."""

    statement: bytes
    signature: Signature
    signer: str = ""


async def make_note(place: Place, commit: str, statement: bytes) -> tuple[str, str]:
    """Write a commit of the notes in which `commit` carries the statement; it, and the one before it."""
    note = statement
    if is_wanted(place):
        made = await sign_commit(place, f"{commit}^{{tree}}", [commit], statement.decode())
        note = (await place.git.run("cat-file", "commit", made)).out
    blob = (await place.git.run("hash-object", "-w", "--stdin", feed=note)).line
    before = (await place.git.names(NOTES))[0]
    with tempfile.TemporaryDirectory(dir=place.state) as folder:
        git = place.git.having(GIT_INDEX_FILE=f"{folder}/index")
        await git.run("read-tree", *([before] if before else ["--empty"]))
        # One folder for the first two digits, as git itself does where there are many notes.
        entries = f"0 {'0' * len(blob)}\t{commit}\n100644 {blob}\t{commit[:2]}/{commit[2:]}\n"
        await git.run("update-index", "--index-info", feed=entries.encode())
        tree = (await git.run("write-tree")).line
    above = ("-p", before) if before else ()
    message = f"Add the statement about {commit}\n".encode()
    made = (await place.git.run("commit-tree", tree, *above, feed=message)).line
    return made, before or "0" * len(made)


async def carriers(place: Place, wanted: str) -> list[Carrier]:
    """List the commits of a range along first parents, newest first; of a single commit, that one."""
    one = () if ".." in wanted else ("--max-count=1",)
    # No message holds a NUL byte, so none can hide a commit.
    words = ("--first-parent", "-z", f"--format={'%x00'.join(_FIELDS)}", *one)
    try:
        said = await place.git.run("log", *words, "--end-of-options", wanted, "--")
    except GitFailed as failed:
        hint = "name a commit or a range: interlock verify main~20..main"
        raise UsageError(f"`{wanted}` names no commits of this repository", hint) from failed
    values = said.out.decode("utf-8", "replace").split("\0")
    notes, found = await _notes(place), []
    for start in range(0, len(values) - 1, len(_FIELDS)):
        commit, tree, parents, subject, task = values[start : start + len(_FIELDS)]
        note = await _note(place, notes.get(commit))
        parent = Commit(parents.partition(" ")[0])
        found.append(Carrier(Commit(commit), Tree(tree), parent, subject, task.strip(), note))
    return found


async def opened(place: Place, note: bytes) -> Signed:
    """Read the statement out of a note, and let git judge its signature."""
    if not note.startswith(b"tree "):
        return Signed(note, Signature.NONE)
    statement = note.partition(b"\n\n")[2]
    with tempfile.TemporaryDirectory() as objects:
        git = Git(
            place.common_dir,
            as_user=True,
            variables={
                "GIT_OBJECT_DIRECTORY": objects,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(place.objects),
            },
        )
        try:
            made = (await git.run("hash-object", "-t", "commit", "-w", "--stdin", feed=note)).line
            said = await git.run("log", "-1", "--no-show-signature", "--format=%G?%x00%GS%x00%GK", made, "--")
        except GitFailed:
            return Signed(statement, Signature.BAD)
    worth, signer, key = said.out.decode("utf-8", "replace").rstrip("\n").split("\0")
    return Signed(statement, _WORTH.get(worth, Signature.BAD), signer or key)


async def _notes(place: Place) -> dict[str, str]:
    """The blobs of all notes, by the commits that carry them; none where the ref is not there."""
    said = await place.git.run("notes", "--ref", NOTES, "list")
    return {commit: blob for blob, commit in (line.split() for line in said.line.splitlines())}


async def _note(place: Place, blob: str | None) -> bytes | None:
    return (await place.git.run("cat-file", "blob", blob, limit_bytes=NOTE_BYTES)).out if blob else None
