"""The user's own checkouts of the protected branch, looked at before the branch moves.

1. A person's edit is never touched. The branch does not move while it would change a file that is edited in a
   checkout of it, staged or not. Edits of other files stay as they are, staged ones staged.
2. Ignored files count: git would overwrite them silently.
3. Looking takes no lock: a git process that is killed here leaves nothing behind.
"""

import asyncio
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from interlock.git.command import Difference, Git
from interlock.git.files import git_dir_of
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem

_NAMED_MOST = 400
"""Paths in the words of one command."""


class CheckoutState(StrEnum):
    """Relation of the user's checkout to the protected branch."""

    CLEAN = "clean"
    DIRTY = "dirty"
    ELSEWHERE = "elsewhere"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class CheckoutStatus:
    """The user's checkout, described for a message."""

    state: CheckoutState
    path: Path | None = None
    dirty: tuple[str, ...] = ()
    held: str = ""
    """The reason why every landing waits; empty: only landings wait that change a dirty file."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A folder of the user's with the protected branch checked out."""

    path: Path
    git_dir: Path
    rebasing: bool = False
    """A rebase of the branch is under way there: it will want to find the branch where it left it."""

    @property
    def git(self) -> Git:
        """Git as the user runs it there: their filters and line endings decide what is clean."""
        return Git(self.git_dir, self.path, as_user=True, variables={"GIT_OPTIONAL_LOCKS": "0"})

    @property
    def index_lock(self) -> Path:
        return self.git_dir / "index.lock"


async def worktrees_on(place: Place, branch: str) -> list[Worktree]:
    """All checkouts of the branch, the main one and linked ones."""
    said = await place.git.run("worktree", "list", "--porcelain", "-z")
    found = []
    for block in said.out.decode("utf-8", "surrogateescape").split("\0\0"):
        fields = dict([*line.split(" ", 1), ""][:2] for line in block.split("\0") if line)
        path = _folder(place, Path(fields.get("worktree", "")))
        git_dir = git_dir_of(path)
        if "bare" in fields or git_dir is None:
            continue
        rebasing = _is_rebasing(git_dir, branch)
        if rebasing or fields.get("branch") == f"refs/heads/{branch}":
            found.append(Worktree(path, git_dir, rebasing))
    return found


def _folder(place: Place, listed: Path) -> Path:
    """Git lists a main checkout that lies apart from its git dir (a submodule, say) by the git dir."""
    here = place.work_tree
    return here if here and listed == place.common_dir and git_dir_of(here) == listed else listed


def worktree_at(path: Path) -> Worktree | None:
    """The checkout in a folder, on any branch or commit; None if it no longer exists."""
    git_dir = git_dir_of(path)
    return Worktree(path, git_dir) if git_dir and git_dir.is_dir() else None


def _is_rebasing(git_dir: Path, branch: str) -> bool:
    names = (git_dir / folder / "head-name" for folder in ("rebase-merge", "rebase-apply"))
    return any(name.is_file() and name.read_text().strip() == f"refs/heads/{branch}" for name in names)


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes in a checkout that a person has not committed."""

    paths: tuple[str, ...] = ()
    conflicts: bool = False
    """A merge stopped half-way there: git changes nothing in such an index."""


async def edits(tree: Worktree, among: Collection[bytes] = ()) -> Edits:
    """Tracked files with changes, staged or not. Files that were only touched do not count.

    `among`: look at these paths alone, unless they are many. Git then reads no other file of the checkout.
    """
    named = ("--", *map(os.fsdecode, among)) if len(among) <= _NAMED_MOST else ()
    words = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
    git = tree.git.having(GIT_LITERAL_PATHSPECS="1")
    said, flagged, unmerged = await asyncio.gather(
        git.run("status", *words, *named),
        git.run("ls-files", "-v", "-z", *named),
        git.run("ls-files", "-u", "-z"),
    )
    # Git does not look at files that a person marked (skip-worktree, assume-unchanged), and then cannot
    # replace them either. In a sparse checkout most of those are not there.
    marked = (item[2:] for item in flagged.items if item[0] == "S" or item[0].islower())
    own = (name for name in marked if os.path.lexists(tree.path / name))
    return Edits((*(item[3:] for item in said.items), *own), conflicts=bool(unmerged.out))


def half_way(tree: Worktree, branch: str, found: Edits) -> str:
    """Name the rebase or merge that a person has not finished, which every landing waits for."""
    if tree.rebasing:
        # It ends by moving the branch from where it was when it began, and fails if it is not there.
        return f"a rebase of {branch} is under way in {tree.path}; finish or abort it"
    if found.conflicts:
        return f"a merge with conflicts is under way in {tree.path}; finish or abort it"
    return ""


def in_the_way(tree: Worktree, changes: Sequence[Difference]) -> tuple[str, ...]:
    """Files that git does not track here, and that a move with these changes would overwrite."""
    gone = {each.path for each in changes if each.status == "D"}
    root = os.fsencode(tree.path)
    added = (each.path for each in changes if each.status == "A")
    found = (hit for path in added for hit in _obstacles(root, path, gone))
    return tuple(dict.fromkeys(os.fsdecode(path) for path in found))


def _obstacles(root: bytes, path: bytes, gone: set[bytes]) -> Iterator[bytes]:
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        parent = b"/".join(parts[:depth])
        full = os.path.join(root, parent)  # noqa: PTH118 - names from git are bytes, which Path cannot hold
        if os.path.islink(full) or os.path.isfile(full):  # noqa: PTH113, PTH114 - bytes again
            if parent not in gone:
                yield parent
            return
    full = os.path.join(root, path)  # noqa: PTH118 - bytes again
    if not os.path.lexists(full):
        return
    if os.path.islink(full) or not os.path.isdir(full):  # noqa: PTH112, PTH114 - bytes again
        yield path
        return
    for folder, _, names in os.walk(full):
        for name in names:
            below = os.path.relpath(os.path.join(folder, name), root)  # noqa: PTH118 - bytes again
            if below not in gone:
                yield below


async def look_at(place: Place) -> CheckoutStatus:
    """Look at the user's checkouts of the protected branch; a dirty one comes first."""
    trees = await worktrees_on(place, place.branch)
    for tree in trees:
        found = await edits(tree)
        held = half_way(tree, place.branch, found)
        if held or found.paths:
            return CheckoutStatus(CheckoutState.DIRTY, tree.path, found.paths, held)
    if trees:
        return CheckoutStatus(CheckoutState.CLEAN, trees[0].path)
    return CheckoutStatus(CheckoutState.ELSEWHERE if place.work_tree else CheckoutState.BARE, place.work_tree)


def tracked_files(place: Place, paths: Sequence[str]) -> frozenset[str]:
    """Return those of some paths that are in the index of the user's checkout; all if git cannot tell."""
    if place.work_tree is None:
        return frozenset()
    words = (f":(top,literal){path}" for path in paths)
    try:
        said = place.checkout_git.run_now("ls-files", "-z", "--", *words)
    except EnvironmentProblem:
        return frozenset(paths)
    return frozenset(map(os.fsdecode, said.split(b"\0"))) & frozenset(paths)
