"""Turns what an attempt left on disk into commits, without ever using the agent's own git dir.

1. The agent's refs are text, and only say which objects to look at.
2. The files decide: whatever is in the tree becomes the last commit. Ignore rules hold for what the agent
   never committed; what it only staged against them (`add -f`) is not taken, as its index is not read.
   If the agent's history does not build on the base it was given, the files are committed on the base and
   the history is kept beside it.
3. A repository inside the tree becomes plain files, unless `.gitmodules` says it is a submodule. As a bare
   link its content would be lost.
"""

import asyncio
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from interlock.git.attempt import AttemptFolder, agent_commits, agent_head, objects_are_plain
from interlock.git.command import Git
from interlock.git.commits import commit_text, write_commit
from interlock.git.errors import GitFailed, refused
from interlock.git.files import make_readable, read_beneath
from interlock.git.place import Place
from interlock.model.errors import RejectedObjects

_LINK = b"160000"
_BORROWED = "../../private.git/objects"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an attempt came to, still in its own object store."""

    commit: str
    lost: str | None = None
    """A commit that holds on to everything the agent made and then left behind."""
    leftovers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _History:
    """What of the agent's own commits can be believed."""

    base: str
    base_tree: str
    head: str | None = None
    head_tree: str | None = None
    builds_on_base: bool = False
    commits: frozenset[str] = field(default_factory=frozenset)
    leftovers: tuple[str, ...] = ()


async def take(folder: AttemptFolder, place: Place, base: str, message: str) -> Snapshot:
    """Commit the attempt's files on top of the agent's own commits, or of the base."""
    if folder.tree.is_symlink() or not folder.tree.is_dir():
        raise RejectedObjects(f"{folder.tree} is no longer a folder")
    plain = objects_are_plain(folder.private, place.objects)
    lenders = [str(place.objects), *([_BORROWED] if plain else [])]
    alternates = folder.trusted / "objects" / "info" / "alternates"
    alternates.write_text("".join(f"{lender}\n" for lender in lenders), errors="surrogateescape")
    git = Git(folder.trusted, folder.tree, variables=place.author_variables, unhurried=True)
    history = await _history(git, folder, place, base)
    tree, leftovers = await _stage(git, folder, await _committed(git, history))
    commit = _commit(folder, place, history, tree, message)
    lost = await _lost(git, history, base, commit)
    odd = () if plain else ("commits of the agent, whose object store is gone or has links in it",)
    return Snapshot(commit, lost, (*leftovers, *history.leftovers, *odd))


async def _history(git: Git, folder: AttemptFolder, place: Place, base: str) -> _History:
    head = agent_head(folder.private, place) or base
    others = sorted({*agent_commits(folder.private, place)} - {head, base})
    base_tree = (await place.git.names(f"{base}^{{tree}}"))[0] or ""
    if head == base and not others:
        return _History(base, base_tree, base, base_tree, builds_on_base=True)
    names = [f"{commit}^{{commit}}" for commit in (head, *others)]
    try:
        (head_tree, *found), ancestry = await asyncio.gather(
            git.names(f"{head}^{{tree}}", *names),
            git.run("merge-base", "--is-ancestor", base, head, ok=(0, 1, 128)),
        )
    except GitFailed as failed:
        return _History(
            base, base_tree, leftovers=(f"commits of the agent that cannot be read: {failed.said}",)
        )
    commits = frozenset(commit for commit in found if commit)
    return _History(base, base_tree, found[0], head_tree, ancestry.code == 0, commits)


def _commit(folder: AttemptFolder, place: Place, history: _History, tree: str, message: str) -> str:
    parent, parent_tree = history.base, history.base_tree
    if history.head and history.builds_on_base:
        parent, parent_tree = history.head, history.head_tree or ""
    if tree == parent_tree:
        return parent
    return write_commit(folder.trusted / "objects", place, commit_text(place, tree, [parent], message))


async def _lost(git: Git, history: _History, base: str, commit: str) -> str | None:
    """One commit with all the ends of the agent's history as parents that the result does not lead to."""
    if not history.commits - {commit, base}:
        return None
    words = (*history.commits, f"^{commit}", f"^{base}")
    said = await git.run(
        "rev-list", "--stdin", feed="".join(f"{word}\n" for word in words).encode(), ok=(0, 128)
    )
    ends = sorted(history.commits & set(said.line.splitlines()))
    if not ends:
        return None
    parents = [word for end in ends for word in ("-p", end)]
    return (
        await git.run("commit-tree", history.base_tree, *parents, feed=b"Left behind by the agent\n")
    ).line


async def _committed(git: Git, history: _History) -> bytes:
    """What the agent's commits changed, as `update-index` reads it: ignore rules do not undo a commit.

    New links to repositories are left out: their files are to be found (rule 3).
    """
    if not history.builds_on_base or not history.head_tree or history.head_tree == history.base_tree:
        return b""
    said = await git.run(
        "diff-tree", "-r", "-z", "--no-renames", history.base_tree, history.head_tree, ok=range(256)
    )
    if said.code:
        raise refused("diff-tree", said.err)
    words = said.out.split(b"\0")
    entries = []
    for change, path in zip(words[::2], words[1::2], strict=False):
        old_mode, new_mode, _, new, _ = change.removeprefix(b":").split(b" ")
        if new_mode != _LINK or old_mode == _LINK:
            entries.append(b"%s %s\t%s\0" % (new_mode, new, path))
    return b"".join(entries)


async def _stage(git: Git, folder: AttemptFolder, committed: bytes) -> tuple[str, tuple[str, ...]]:
    """All files as a tree, and what could not be part of it."""
    await _fresh_index(git, folder, committed)
    said = await git.run("add", "-A", "--", ".", ok=range(256))
    leftovers: tuple[str, ...] = ()
    if said.code or "could not open" in said.err or "embedded git repository" in said.err:
        await asyncio.to_thread(make_readable, folder.tree)
        nested = _nested(folder.tree, await _links(git, folder))
        with _hidden(nested, folder.home / "nested"):
            await _fresh_index(git, folder, committed)
            said = await git.run("add", "-A", "--ignore-errors", "--", ".", ok=range(256))
        if "invalid path" in said.err:
            raise RejectedObjects(f"git refuses what the agent made: {said.err.strip()}")
        if said.code and not said.err.startswith("error:"):
            raise GitFailed("add", said.err)
        leftovers = tuple(f"the history of {path.parent.name}" for path in nested)
        leftovers += tuple(said.err.splitlines()) if said.code else ()
    return (await git.run("write-tree")).line, leftovers


async def _fresh_index(git: Git, folder: AttemptFolder, committed: bytes = b"") -> None:
    """Start from the checkout as it was made: collecting twice gives the same."""
    (folder.trusted / "index.lock").unlink(missing_ok=True)
    # With its time: by that git knows which files may have changed in the same instant as they were recorded.
    shutil.copy2(folder.trusted / "index.base", folder.trusted / "index")
    if committed:
        said = await git.run("update-index", "-z", "--index-info", feed=committed, ok=range(256))
        if said.code:
            raise refused("update-index", said.err)


async def _links(git: Git, folder: AttemptFolder) -> set[str]:
    """Paths that are meant to be links to other repositories."""
    await _fresh_index(git, folder)
    said = await git.run("ls-files", "--stage", "-z")
    known = {entry.partition("\t")[2] for entry in said.items if entry.startswith("160000 ")}
    modules = read_beneath(folder.tree, ".gitmodules") or ""
    return known | set(re.findall(r"^\s*path\s*=\s*(.+?)\s*$", modules, re.MULTILINE))


def _nested(tree: Path, links: set[str]) -> list[Path]:
    """Every `.git` below the top one that belongs to no known link."""
    folders = [path.parent.relative_to(tree) for path in sorted(tree.rglob(".git")) if path.parent != tree]
    # What lies inside a git dir moves with it.
    return [
        tree / folder / ".git"
        for folder in folders
        if str(folder) not in links and ".git" not in folder.parts
    ]


@contextmanager
def _hidden(paths: Sequence[Path], away: Path) -> Iterator[None]:
    """Put files elsewhere for a moment."""
    away.mkdir(exist_ok=True)
    places = {path: away / str(number) for number, path in enumerate(paths)}
    for path, place in places.items():
        path.rename(place)
    try:
        yield
    finally:
        for path, place in places.items():
            place.rename(path)
