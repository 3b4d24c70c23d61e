"""Turns what an attempt left on disk into commits, without ever using the agent's own git dir.

1. The agent's refs are text, and only say which objects to look at.
2. The files decide: all files of the tree become the last commit. Ignore rules hold for what the agent
   never committed; what it only staged against them (`add -f`) is not taken, as its index is not read.
   If the agent's history does not build on the base it was given, the files are committed on the base and
   the history is kept beside it.
3. A repository inside the tree becomes plain files, unless `.gitmodules` says it is a submodule. As a bare
   link its content would be lost.
"""

import asyncio
import itertools
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from interlock.git.attempt import AttemptFolder, WorkspaceOpened, agent_commits, agent_head, objects_are_plain
from interlock.git.bounds import REFS
from interlock.git.command import Git
from interlock.git.errors import GitFailed, refused
from interlock.git.files import make_readable, read_beneath, walk
from interlock.git.making import write_trusted
from interlock.git.place import Place
from interlock.git.tree_size import check_history
from interlock.git.written import (
    Written,
    check_content,
    look_at,
    put_pipes_away,
    removals,
    show_steering,
    tracked,
)
from interlock.model.errors import RejectedObjects

_LINK = "160000"
_BORROWED = "../../private.git/objects"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The result of an attempt, still in its own object store."""

    commit: str
    lost: str | None = None
    """A commit that holds on to everything the agent made and then left behind."""
    leftovers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _History:
    """The part of the agent's own commits that can be trusted."""

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
    opened = folder.opened()
    plain = objects_are_plain(folder.private, place.objects)
    lenders = [str(place.objects), *([_BORROWED] if plain else [])]
    write_trusted(place, folder)
    alternates = folder.trusted / "objects" / "info" / "alternates"
    alternates.write_text("".join(f"{lender}\n" for lender in lenders), errors="surrogateescape")
    author = place.author_variables
    git = Git(folder.trusted, folder.tree, variables=author, unhurried=True, untrusted=True)
    history = await _history(git, folder, place, base)
    if history.commits - {base}:
        await check_history(git, place, history.commits, base, history.base_tree)
    committed = await _committed(git, history)
    if opened and opened.tree:
        tree, leftovers = await _stage_layer(git, folder, committed, opened)
    else:
        written = await asyncio.to_thread(look_at, folder.tree)
        put_pipes_away(folder.tree, written, layered=False)
        tree, leftovers = await _stage(git, folder, written, lambda: _fresh_index(git, folder, committed))
    commit = await _commit(git, history, tree, message)
    lost = await _lost(git, history, base, commit)
    odd = () if plain else ("commits of the agent, whose object store is gone or has links in it",)
    return Snapshot(commit, lost, (*leftovers, *history.leftovers, *odd))


async def _history(git: Git, folder: AttemptFolder, place: Place, base: str) -> _History:
    head = agent_head(folder.private, place) or base
    named = list(itertools.islice(agent_commits(folder.private, place), REFS + 1))
    more = (f"branches of the agent after the first {REFS:,}",) if len(named) > REFS else ()
    others = sorted({*named[:REFS]} - {head, base})
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
    return _History(base, base_tree, found[0], head_tree, ancestry.code == 0, commits, more)


async def _commit(git: Git, history: _History, tree: str, message: str) -> str:
    parent, parent_tree = history.base, history.base_tree
    if history.head and history.builds_on_base:
        parent, parent_tree = history.head, history.head_tree or ""
    if tree == parent_tree:
        return parent
    return (await git.run("commit-tree", tree, "-p", parent, feed=message.encode())).line


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
    """List the changes of the agent's commits for `update-index`: ignore rules do not undo a commit.

    New links to repositories are left out: their files are to be found (rule 3).
    """
    if not history.builds_on_base or not history.head_tree or history.head_tree == history.base_tree:
        return b""
    try:
        changes = await git.changes(history.base_tree, history.head_tree)
    except GitFailed as failed:
        raise refused("diff-tree", failed.said) from failed
    return b"".join(each.index_line for each in changes if each.mode != _LINK or each.old_mode == _LINK)


async def _stage_layer(
    git: Git, folder: AttemptFolder, committed: bytes, opened: WorkspaceOpened
) -> tuple[str, tuple[str, ...]]:
    """The tree that was below with what the upper layer says of it, and what could not be part of that.

    Git looks at the upper layer alone, as at a small checkout: its index has just the files in it that are
    known. The result is put into the index of everything.
    """
    below = git.having(GIT_INDEX_FILE=str(folder.trusted / "below"))
    known = await _tree_with(below, folder, committed) if committed else opened.tree
    lines = {os.fsdecode(line.partition(b"\t")[2]): line for line in committed.split(b"\0") if line}
    # What agents commit in a folder of the user's is taken from the commit: its files are in another layer.
    aside = {path for path in lines if any(path.startswith(f"{each}/") for each in opened.shown)}
    found = await asyncio.to_thread(look_at, folder.tree)
    put_pipes_away(folder.tree, found, layered=True)
    missing = found.missing(opened.begun)
    found.gone |= missing
    await show_steering(git.having(GIT_INDEX_FILE=str(folder.index)), found, {*lines} - aside)
    written = await asyncio.to_thread(look_at, folder.tree)
    written.gone |= missing
    entries = await tracked(git, known, written.files | written.folders)
    _, leftovers = await _stage(git, folder, written, lambda: _listed_index(git, folder, entries))
    now = (await git.run("ls-files", "--stage", "-z")).out
    gone = await removals(git, opened.tree, written, b"0" * len(opened.tree))
    kept = b"".join(lines[path] + b"\0" for path in sorted(aside))
    return await _tree_with(below, folder, gone + now + kept), leftovers


async def _tree_with(below: Git, folder: AttemptFolder, changes: bytes) -> str:
    """The tree that the workspace began with, and these changes."""
    _begin_index(below, folder)
    await _update_index(below, changes)
    return (await below.run("write-tree")).line


def _begin_index(below: Git, folder: AttemptFolder) -> None:
    """The index that the workspace began with, in a file that may be changed."""
    index = Path(below.variables["GIT_INDEX_FILE"])
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
    shutil.copy2(folder.index, index)


async def _listed_index(git: Git, folder: AttemptFolder, entries: bytes) -> None:
    """An index with just these entries."""
    for name in ("index", "index.lock"):
        (folder.trusted / name).unlink(missing_ok=True)
    await _update_index(git, entries)


async def _update_index(git: Git, lines: bytes) -> None:
    if lines:
        said = await git.run("update-index", "-z", "--index-info", feed=lines, ok=range(256))
        if said.code:
            raise refused("update-index", said.err)


async def _stage(
    git: Git, folder: AttemptFolder, written: Written, prepare: Callable[[], Awaitable[None]]
) -> tuple[str, tuple[str, ...]]:
    """All files of the folder as a tree, and what could not be part of it. `prepare` makes the index."""
    await prepare()
    await check_content(git, folder.tree, written)
    said = await git.run("add", "-A", "--", ".", ok=range(256))
    leftovers: tuple[str, ...] = ()
    if said.code or "could not open" in said.err or "embedded git repository" in said.err:
        await asyncio.to_thread(make_readable, folder.tree)
        nested = await asyncio.to_thread(_nested, folder.tree, await _links(git, folder))
        with _hidden(nested, folder.home / "nested"):
            await prepare()
            said = await git.run("add", "-A", "--ignore-errors", "--", ".", ok=range(256))
        if "invalid path" in said.err:
            raise RejectedObjects(f"git rejected what the agent made: {said.err.strip()}")
        # Warnings come first where a removed .gitignore is a device in the upper layer.
        errors = [line for line in said.err.splitlines() if line.startswith("error:")]
        if said.code and not errors:
            raise GitFailed("add", said.err)
        leftovers = (*(f"the history of {path.parent.name}" for path in nested), *errors)
    return (await git.run("write-tree")).line, leftovers


async def _fresh_index(git: Git, folder: AttemptFolder, committed: bytes) -> None:
    """Start from the checkout as it was made: collecting twice gives the same."""
    (folder.trusted / "index.lock").unlink(missing_ok=True)
    # With its time: by that git knows which files may have changed in the same instant as they were recorded.
    shutil.copy2(folder.index, folder.trusted / "index")
    await _update_index(git, committed)


async def _links(git: Git, folder: AttemptFolder) -> set[str]:
    """Paths that are meant to be links to other repositories."""
    said = await git.having(GIT_INDEX_FILE=str(folder.index)).run("ls-files", "--stage", "-z")
    known = {entry.partition("\t")[2] for entry in said.items if entry.startswith("160000 ")}
    modules = read_beneath(folder.tree, ".gitmodules") or ""
    return known | set(re.findall(r"^\s*path\s*=\s*(.+?)\s*$", modules, re.MULTILINE))


def _nested(tree: Path, links: set[str]) -> list[Path]:
    """Every `.git` below the top one that belongs to no known link."""
    folders = sorted(path.removesuffix("/.git") for path, _ in walk(tree) if path.endswith("/.git"))
    # What lies inside a git dir moves with it.
    return [
        tree / folder / ".git"
        for folder in folders
        if folder not in links and ".git" not in folder.split("/")
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
