"""Statements about commits, as git notes below one ref of their own.

1. Notes of people on other refs are never touched.
2. The ref moves by compare-and-swap. Who loses reads again and repeats.
3. A ref that cannot be read is never replaced: it may hold what others wrote.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import SCRATCH
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem
from interlock.model.task import Commit

REF = "refs/notes/interlock"
_TRIES = 5
_MOST_BYTES = 256 << 20
_GONE = "0" * 6
_FILE = "100644"


async def noted(git: Git) -> dict[Commit, str]:
    """List the commits that have a note, each with the blob of it."""
    if (await git.run("rev-parse", "-q", "--verify", REF, ok=(0, 1, 128))).code:
        return {}
    return await _listed(git, REF)


async def _listed(git: Git, ref: str) -> dict[Commit, str]:
    said = await git.run("ls-tree", "-r", "-z", ref)
    entries = (entry.partition("\t") for entry in said.items)
    # Git may keep the note of abcdef as ab/cdef, or as ab/cd/ef.
    return {Commit(path.replace("/", "")): head.split(" ")[2] for head, _, path in entries}


async def read_notes(git: Git, commits: Sequence[Commit]) -> dict[Commit, bytes]:
    """Read the notes of those of these commits that have one."""
    known = await noted(git)
    wanted = [commit for commit in commits if commit in known]
    found = await git.objects([known[commit] for commit in wanted], _MOST_BYTES)
    if len(found) != len(wanted):
        most = f"{_MOST_BYTES >> 20} MiB"
        raise EnvironmentProblem(f"the notes below {REF} are larger than {most}", "name fewer commits")
    return {commit: text for commit, (kind, text) in zip(wanted, found, strict=True) if kind == b"blob"}


async def write_notes(place: Place, notes: Mapping[Commit, bytes], message: str) -> None:
    """Add these notes, in place of those that the commits have."""
    git = _git(place)
    blobs = {
        commit: (await git.run("hash-object", "-w", "--stdin", feed=text)).line
        for commit, text in notes.items()
    }
    await _move(place, blobs, message)


async def add_fetched_notes(place: Place, ref: str) -> None:
    """Add the notes that another repository has below its ref, about commits that have none here."""
    git = place.git
    theirs, ours = await _listed(git, ref), await noted(git)
    new = {name: blob for name, blob in theirs.items() if name not in ours and place.is_object_id(name)}
    await _move(place, new, "interlock: add the statements of others", (await git.names(ref))[0] or "")


async def _move(place: Place, blobs: Mapping[Commit, str], message: str, besides: str = "") -> None:
    """Move the ref to a commit that has these notes too. `besides`: one more parent of it."""
    git, said = _git(place), ""
    for _ in range(_TRIES):
        old, is_commit = await git.names(REF, f"{REF}^{{commit}}")
        if old and not is_commit:
            raise GitFailed("notes", f"{REF} is not a commit")
        parents = [parent for parent in (old, besides) if parent]
        new = await _with_notes(place, blobs, parents, message)
        moved = await git.run("update-ref", REF, new, old or "0" * len(new), ok=(0, 1, 128))
        if moved.code == 0:
            return
        said = moved.err
        if (await git.names(REF))[0] == old:
            break  # nobody else was faster: it is locked, or broken
    raise GitFailed("update-ref", said)


async def _with_notes(place: Place, blobs: Mapping[Commit, str], parents: Sequence[str], message: str) -> str:
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=place.state) as folder:
        git = _git(place).having(GIT_INDEX_FILE=str(Path(folder) / "index"))
        if parents:
            await git.run("read-tree", f"{parents[0]}^{{tree}}")
        lines = (line for commit, blob in blobs.items() for line in _index_lines(commit, blob))
        await git.run("update-index", "-z", "--index-info", feed="".join(lines).encode())
        tree = (await git.run("write-tree")).line
    above = [word for parent in parents for word in ("-p", parent)]
    return (await _git(place).run("commit-tree", tree, *above, feed=f"{message}\n".encode())).line


def _git(place: Place) -> Git:
    """Checks and agents go first: nothing waits for a note."""
    return replace(place.git, unhurried=True)


def _index_lines(commit: Commit, blob: str) -> list[str]:
    """Put a note at ab/cdef, in place of one that git keeps under another path."""
    others = (commit, f"{commit[:2]}/{commit[2:4]}/{commit[4:]}")
    gone = [f"{_GONE} {'0' * len(blob)}\t{path}\0" for path in others]
    return [*gone, f"{_FILE} {blob}\t{commit[:2]}/{commit[2:]}\0"]
