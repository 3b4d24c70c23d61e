"""Workspaces for people: linked worktrees of the repository, each in a folder and on a branch of its own.

1. Git runs here as the user, with the user's own configuration: these are checkouts like any other.
2. Nothing that is nowhere else is removed: a workspace with uncommitted files or with commits that are not
   on the protected branch stays, unless it is archived first or the person insists.
"""

import asyncio
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock.git.command import Git
from interlock.git.files import git_dir_of
from interlock.git.include import include
from interlock.git.place import Place
from interlock.git.submodules import UnsavedSubmodule, edited, unsaved
from interlock.model.errors import EnvironmentProblem, UsageError

BRANCHES = "interlock/"
"""Prefix of the branch of a workspace."""
ARCHIVE = "refs/interlock/archive/workspaces/"
SIZED_FILES = 200_000
"""A folder with more files than this is not measured."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class PersonWorkspace:
    """A person's workspace."""

    name: str
    path: Path
    branch: str
    """Empty if no branch is checked out there."""
    commit: str
    uncommitted: tuple[str, ...]
    """Paths that differ from the commit; what git ignores does not count."""
    unmerged: int
    """Commits that are not on the protected branch."""
    submodules: tuple[UnsavedSubmodule, ...]
    """Submodules with work that is nowhere else: git can archive none of it."""
    age_seconds: float
    size_bytes: int | None
    """Size of the folder; None if it has too many files to measure."""

    @property
    def repositories(self) -> tuple[str, ...]:
        """Folders that are repositories of their own: git can archive none of their files."""
        return tuple(path for path in self.uncommitted if path.endswith("/"))

    @property
    def is_clean(self) -> bool:
        """True if removing it loses nothing."""
        return not self.uncommitted and not self.unmerged and not self.submodules


class UnsavedWork(EnvironmentProblem):
    """A workspace holds work that is nowhere else."""

    code = "unsaved"


class Worktrees:
    """The workspaces of people in one repository, all in one folder."""

    def __init__(self, place: Place, folder: Path) -> None:
        self._place = place
        self._folder = folder
        self._git = Git(place.common_dir, as_user=True)

    async def make(self, name: str, start: str) -> PersonWorkspace:
        """Make a new folder on a new branch, from the commit that `start` names."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"`{name}` cannot be the name of a workspace",
                "use up to 60 letters, digits, `.`, `_` and `-`, the first a letter or a digit",
            )
        path, branch = self._folder / name, f"{BRANCHES}{name}"
        commit, taken = await self._git.names(f"{start}^{{commit}}", f"refs/heads/{branch}")
        if commit is None:
            raise UsageError(f"`{start}` is not a commit of this repository", "git branch --list --all")
        if taken is not None or path.exists():
            what = f"the branch {branch}" if taken else str(path)
            raise UsageError(f"{what} exists already", f"interlock workspace remove {name}, or another name")
        self._folder.mkdir(parents=True, exist_ok=True)
        await self._git.run("worktree", "add", "--quiet", "-b", branch, str(path), commit)
        await include(self._place, path)
        return await self._look(path, branch)

    async def listing(self) -> list[PersonWorkspace]:
        said = await self._git.run("worktree", "list", "--porcelain", "-z")
        found = []
        for entry in said.out.decode("utf-8", "surrogateescape").split("\0\0"):
            fields = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
            path = Path(fields.get("worktree", ""))
            branch = fields.get("branch", "").removeprefix("refs/heads/")
            if (path.parent == self._folder or branch.startswith(BRANCHES)) and path.is_dir():
                found.append(await self._look(path, branch))
        return sorted(found, key=lambda one: one.name)

    async def find(self, name: str) -> PersonWorkspace:
        for one in await self.listing():
            if one.name == name:
                return one
        raise UsageError(f"there is no workspace `{name}`", "interlock workspace list")

    async def remove(self, name: str, *, archive: bool, force: bool) -> str:
        """Remove the folder and its branch; the ref that keeps what was only there, '' if nothing was."""
        one = await self.find(name)
        if one.submodules and not force:
            held = ", ".join(map(str, one.submodules))
            raise UnsavedWork(f"workspace {name} holds {held}", "push or move them; --force loses it")
        if not one.is_clean and not archive and not force:
            raise UnsavedWork(
                f"workspace {name} holds {in_words(one)}",
                f"commit and merge it; `interlock workspace remove {name} --archive` keeps it, "
                "--force loses it",
            )
        if one.repositories and not force:
            raise UnsavedWork(
                f"workspace {name} holds a repository of its own: {', '.join(one.repositories)}",
                "move it to another folder; --force loses it",
            )
        kept = await self._archive(one) if archive and not one.is_clean else ""
        await self._git.run("worktree", "remove", "--force", str(one.path))
        if one.branch == f"{BRANCHES}{name}":
            await self._git.run("branch", "--quiet", "-D", "--end-of-options", one.branch)
        return kept

    async def _look(self, path: Path, branch: str) -> PersonWorkspace:
        inside = self._inside(path)
        status, submodules, counted, (commit,) = await asyncio.gather(
            edited(inside),
            unsaved(inside, self._place.common_dir),
            inside.run("rev-list", "--count", "HEAD", "--not", self._place.ref),
            inside.names("HEAD"),
        )
        created = (inside.git_dir / "gitdir").stat().st_mtime
        return PersonWorkspace(
            name=path.name,
            path=path,
            branch=branch,
            commit=commit or "",
            uncommitted=status,
            unmerged=int(counted.line),
            submodules=submodules,
            age_seconds=max(0.0, time.time() - created),
            size_bytes=await asyncio.to_thread(folder_bytes, path),
        )

    async def _archive(self, one: PersonWorkspace) -> str:
        """A ref on its last commit, or on one more with what is not committed yet.

        Between the two stands a commit of what is staged, where that is neither.
        """
        inside, commit = self._inside(one.path), one.commit
        if one.uncommitted:
            with TemporaryDirectory(dir=inside.git_dir) as folder:
                apart = inside.having(GIT_INDEX_FILE=str(Path(folder, "index")))
                await apart.run("read-tree", "HEAD")
                await apart.run("add", "--all", "--", ".")
                tree = (await apart.run("write-tree")).line
                # Of a copy: another git process may hold the lock. An index with conflicts has no tree, and
                # both sides of these are commits already.
                copy = shutil.copyfile(inside.git_dir / "index", Path(folder, "staged"))
                staged = (await inside.having(GIT_INDEX_FILE=str(copy)).run("write-tree", ok=(0, 128))).line
            (before,) = await inside.names("HEAD^{tree}")
            made = [("Staged", staged)] if staged and staged not in (before, tree) else []
            for kind, each in (*made, ("Uncommitted", tree)):
                message = f"{kind} files of workspace {one.name}"
                words = ("--no-gpg-sign", "-p", commit, "-m", message, each)
                commit = (await inside.run("commit-tree", *words)).line
        ref = f"{ARCHIVE}{one.name}/{commit}"
        await self._git.run("update-ref", ref, commit)
        return ref

    def _inside(self, path: Path) -> Git:
        """Git in a linked worktree, by the git dir that the repository itself knows for it."""
        git_dir = git_dir_of(path)
        if git_dir is None or git_dir.parent != self._place.common_dir / "worktrees":
            raise EnvironmentProblem(f"{path} is not a worktree of this repository", "git worktree list")
        return Git(git_dir, path, as_user=True, variables={"GIT_OPTIONAL_LOCKS": "0"})


def in_words(one: PersonWorkspace) -> str:
    """Describe the work in a workspace that is nowhere else."""
    files = f"{len(one.uncommitted)} uncommitted file{'s' if len(one.uncommitted) > 1 else ''}"
    commits = f"{one.unmerged} unmerged commit{'s' if one.unmerged > 1 else ''}"
    parts = [*([files] if one.uncommitted else []), *([commits] if one.unmerged else [])]
    parts += map(str, one.submodules)
    return " and ".join(parts) or "no unmerged work"


def folder_bytes(root: Path) -> int | None:
    """The room that a folder takes on the disk; None if it has too many files to count."""
    total = files = 0
    for folder, _, names in os.walk(root):
        files += len(names)
        if files > SIZED_FILES:
            return None
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118 - many files
            except OSError:
                continue  # removed meanwhile
    return total
