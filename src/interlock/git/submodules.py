"""Edits in a person's workspace, and the work in its submodules that is in no other repository.

Git keeps the objects of these submodules with the workspace and deletes both together. A commit is safe if
the remote has it, if the checkout of the repository has it, or if the workspace records it and it was not
made here.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import git_dir_of

_STATUS = (
    "status",
    "--porcelain",
    "-z",
    "--no-renames",
    "--untracked-files=all",
    "--ignore-submodules=dirty",
)
"""The edits inside a submodule count there; outside only its commit does."""
_VISITED = ("checkout:", "clone:", "reset:")
"""Moves of HEAD to a commit that existed already, as the reflog names them."""


@dataclass(frozen=True, slots=True)
class UnsavedSubmodule:
    """A submodule with work that is nowhere else."""

    path: str
    edited: int = 0
    """Files that differ from its commit, untracked ones too."""
    stashes: int = 0
    commits: int = 0
    is_unreadable: bool = False

    def __str__(self) -> str:
        counts = ((self.edited, "edited file"), (self.stashes, "stash"), (self.commits, "unpushed commit"))
        named = [f"{number} {_plural(noun, number)}" for number, noun in counts if number]
        return f"the submodule {self.path} with {' and '.join(named) or 'a repository that git cannot read'}"


@dataclass(frozen=True, slots=True)
class _Submodule:
    path: str
    git: Git
    recorded: str = ""
    others: Sequence[Git] = field(default_factory=tuple)
    """The repositories of the same submodule that stay."""


async def edited(inside: Git) -> tuple[str, ...]:
    """List the paths that differ from the commit, also those that git was told to overlook."""
    tagged = (await inside.run("ls-files", "-v", "-z")).items
    overlooked = {entry[2:] for entry in tagged if entry[0] == "S" or entry[0].islower()}
    if not overlooked:
        return tuple(item[3:] for item in (await inside.run(*_STATUS)).items)
    with TemporaryDirectory(dir=inside.git_dir) as folder:
        apart = inside.having(GIT_INDEX_FILE=str(Path(folder, "index")))
        await apart.run("read-tree", "HEAD")
        found = [item[3:] for item in (await apart.run(*_STATUS)).items]
    # A file may be staged and then put back: the other index does not know of that.
    staged = (await inside.run("diff-index", "--cached", "--name-only", "-z", "HEAD")).items
    root = inside.work_tree or Path()
    # A sparse checkout has files that are overlooked and not there.
    there = (path for path in found if path not in overlooked or os.path.lexists(root / path))
    return tuple(dict.fromkeys((*there, *staged)))


async def unsaved(inside: Git, checkout: Path) -> tuple[UnsavedSubmodule, ...]:
    """List the submodules of a workspace that hold work of their own, nested ones too."""
    looked = [await _look(one) for one in await _submodules(inside, "", [checkout])]
    return tuple(one for one in looked if one is not None)


async def _submodules(around: Git, prefix: str, stays: Sequence[Path]) -> list[_Submodule]:
    """Those that are checked out, each before its own, and those of which only the repository is left."""
    found: list[tuple[str, Path, Path | None, str]] = []
    root = around.work_tree or Path()
    for entry in (await around.run("ls-files", "--stage", "-z")).items if around.work_tree else ():
        words, _, path = entry.partition("\t")
        git_dir = git_dir_of(root / path) if words.startswith("160000") else None
        if git_dir is not None and (git_dir / "objects").is_dir():
            found.append((path, git_dir, root / path, words.split()[1]))
    taken = {git_dir for _, git_dir, _, _ in found}
    for name, git_dir in _repositories(around.git_dir / "modules"):
        if git_dir not in taken:
            found.append((name, git_dir, None, ""))
    listed = []
    for path, git_dir, tree, recorded in found:
        git = (
            Git(git_dir, tree, as_user=True, variables=around.variables)
            if tree is not None
            else _bare(git_dir)
        )
        places = [place / "modules" / path for place in stays]
        others = tuple(_bare(place) for place in places if (place / "objects").is_dir())
        listed.append(_Submodule(f"{prefix}{path}", git, recorded, others))
        listed += await _submodules(git, f"{prefix}{path}/", places)
    return listed


def _bare(git_dir: Path) -> Git:
    """Git on a repository alone: the work tree that its configuration names may be gone."""
    return Git(git_dir, as_user=True, variables={"GIT_WORK_TREE": str(git_dir)})


def _repositories(folder: Path, name: str = "") -> Iterator[tuple[str, Path]]:
    """The repositories in the `modules` of a git dir: a name may have slashes."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_symlink() or not path.is_dir():
            continue
        if (path / "objects").is_dir():
            yield f"{name}{path.name}", path
        else:
            yield from _repositories(path, f"{name}{path.name}/")


async def _look(one: _Submodule) -> UnsavedSubmodule | None:
    try:
        edited, stashes, commits = await asyncio.gather(_edited(one.git), _stashes(one.git), _commits(one))
    except (GitFailed, OSError):
        return UnsavedSubmodule(one.path, is_unreadable=True)
    return UnsavedSubmodule(one.path, edited, stashes, commits) if edited or stashes or commits else None


async def _edited(git: Git) -> int:
    if git.work_tree is None:
        return 0
    return len(await edited(git))


async def _stashes(git: Git) -> int:
    if await git.names("refs/stash") == [None]:
        return 0
    said = await git.run("rev-list", "--walk-reflogs", "--count", "refs/stash", "--")
    return max(1, int(said.line))


async def _commits(one: _Submodule) -> int:
    """Count the commits that only this repository has."""
    made = _made_here(one.git.git_dir)
    safe = {*_fetched(one.git.git_dir), *({one.recorded} - made - {""})}
    for other in one.others:
        safe.update((await other.run("for-each-ref", "--format=%(objectname)")).line.split())
        safe.update(filter(None, await other.names("HEAD")))
    head = ("HEAD",) if await one.git.names("HEAD") != [None] else ()
    known = await one.git.names(*safe)
    feed = "".join(f"^{name}\n" for name in known if name).encode()

    async def only_here(*refs: str) -> set[str]:
        said = await one.git.run("rev-list", "--stdin", *refs, "--not", "--remotes", feed=feed)
        return {*said.line.split()}

    own = await only_here("--exclude=refs/stash", "--exclude=refs/tags/*", "--all", *head)
    # A tag comes with a fetch, too, also if its commit is on no branch of the remote.
    tagged = await only_here("--tags") & made
    return len(own | tagged)


def _made_here(git_dir: Path) -> set[str]:
    """The commits that HEAD moved to when they were made."""
    try:
        lines = (git_dir / "logs" / "HEAD").read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return set()
    moves = (line.partition("\t")[::2] for line in lines)
    return {
        words.split()[1]
        for words, why in moves
        if not why.startswith(_VISITED) and not why.endswith("Fast-forward")
    }


def _fetched(git_dir: Path) -> Iterator[str]:
    try:
        lines = (git_dir / "FETCH_HEAD").read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return
    yield from (line.split()[0] for line in lines if line.strip())


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}es" if noun.endswith("sh") else f"{noun}s"
