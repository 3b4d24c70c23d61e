"""Read-only trees of the repository's files: the lowest layer of every workspace and check.

1. A tree is made whole, then gets its name, and is never changed after that: overlays are mounted over it.
2. One tree serves many commits: the paths that differ are written to the upper layer of each workspace. A
   new tree is made only when these are many.
3. Each process holds a lock on the trees that it uses. All others but the newest are removed.
4. A file that is the same in the user's checkout takes its time from there, and every other file is new. So
   what the user has built there is newer than its sources, and older than each source that has changed since.
   `Near.later` lists the files of the checkout that were written again later, with the same content.
5. A tree of the other kind (`is_new`) has files that are all newer than anything that was built: no time
   tells a build that a file is gone. Their times are set again for each workspace, unless an overlay may be
   mounted over the tree: what that shows then is undefined, and its build would start again. Then there is a
   tree of its own for the next.
6. A tree is used only while it has the form in which git would write its files now: after a change of the
   attributes or line ends of the repository it is made again, and so it is when content of LFS has come.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.git import lfs
from interlock.git.command import Difference, Git
from interlock.git.errors import GitFailed
from interlock.git.files import remove_tree
from interlock.git.layout import form_of, write_git_dir
from interlock.git.place import Place

FAR = 500
"""Differing paths: to write more of them for each attempt takes longer than a new tree."""
_NOTE = "tree.json"
_IN_PARALLEL = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "checkout.workers",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "checkout.thresholdForParallelism",
    "GIT_CONFIG_VALUE_1": "500",
}
"""Settings for as many writers as there are processors."""


@dataclass(frozen=True, slots=True)
class Pristine:
    """One tree on disk."""

    folder: Path
    tree: str
    filled: tuple[str, ...] = ()
    """Files that hold what git LFS keeps for them, and not the pointer that the tree has."""
    form: str = ""
    """The digest of what decides how git writes files: see `form_of`."""
    pointers: tuple[str, ...] = ()
    """Files of LFS whose content was not there."""

    @property
    def files(self) -> Path:
        """The layer."""
        return self.folder / "files"

    @property
    def git_dir(self) -> Path:
        return self.folder / "git"

    @property
    def index(self) -> Path:
        """The index of these files, as git left it; workspaces begin with a copy."""
        return self.git_dir / "index"


@dataclass(frozen=True, slots=True)
class Near:
    """A tree for a workspace, and how the wanted one differs."""

    pristine: Pristine
    differences: Sequence[Difference]
    edited: Sequence[bytes] = ()
    """Paths in which the user's checkout differs from the tree now."""
    later: Sequence[bytes] = ()
    """Paths that are the same there, but were written after the tree took their times."""

    @property
    def is_far(self) -> bool:
        """Return True if a new tree is better: much differs, or git writes files of the same content in
        another way."""
        if any(each.path.rpartition(b"/")[2] == b".gitattributes" for each in self.differences):
            return True
        return len(self.differences) + len(self.later) > FAR


HOME, NEW_HOME = Path("node_modules", "trees"), Path("node_modules", "new-trees")
REDUCED_HOME = Path("node_modules", "reduced-trees")
"""Below the state folder. Test runners of Node walk into `.git` but not into a folder of this name; they
would run the tests in these trees beside the person's own."""


class Trees:
    """The trees of one repository, of one kind."""

    def __init__(self, place: Place, *, is_new: bool = False, home: Path | None = None) -> None:
        self._place = place
        self._is_new = is_new
        self._home = home or place.state / (NEW_HOME if is_new else HOME)
        self._locks: dict[Path, int] = {}
        self._users: dict[Path, Path] = {}
        """The tree that each workspace is mounted over."""
        self._newest: Pristine | None = None
        self._one_at_a_time = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None
        self._later: tuple[object, list[bytes]] = (None, [])
        """Paths that were written later, and the state of the user's index at which they were found."""

    async def near(self, tree: str, user: Path, *, timed: bool = False) -> Near:
        """A tree for the workspace at `user`, and what differs in the one that is wanted.

        `timed`: it will show what was built in the checkout, so say what is newer than its sources were.
        """
        async with self._one_at_a_time:
            found = self._newest or await asyncio.to_thread(self._find)
            if found and not await asyncio.to_thread(self._is_in_form, found):
                found = None
            if found and self._is_new and not await asyncio.to_thread(self._renew, found):
                found = None
            near = await self._compared(found, tree, timed=timed) if found else None
            if near is None or near.is_far:
                near = await self._compared(await self._make(tree), tree, timed=timed)
            self._newest = near.pristine
            self._users[user] = near.pristine.folder
            await asyncio.to_thread(self._tidy)
        return near

    def _is_in_form(self, found: Pristine) -> bool:
        """Rule 6."""
        return found.form == form_of(self._place)

    def _renew(self, found: Pristine) -> bool:
        """Make all files of a tree new; False if it is in use."""
        if found.folder in self._users.values():
            return False
        lock = self._locks[found.folder]
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # by another process; the lock that we had may be lost now
            os.close(self._locks.pop(found.folder))
            return False
        _touch(found.files)
        fcntl.flock(lock, fcntl.LOCK_SH)
        return True

    async def _compared(self, found: Pristine, tree: str, *, timed: bool) -> Near:
        differences = await self._place.git.changes(found.tree, tree) if found.tree != tree else []
        if not timed or self._place.work_tree is None:
            return Near(found, differences)
        edited = await self._edited(found)
        later = await self._written_later(found)
        return Near(found, differences, edited, sorted({*later}.difference(edited)))

    async def _edited(self, pristine: Pristine) -> list[bytes]:
        try:
            said = await self._place.checkout_git.run("diff-index", "--name-only", "-z", pristine.tree)
        except GitFailed:
            return []
        return [path for path in said.out.split(b"\0") if path]

    async def _written_later(self, pristine: Pristine) -> list[bytes]:
        """Searched when git has written its index: before that, `edited` lists all touched files."""
        try:
            seen = self._place.checkout_index.stat()
            state = (pristine.folder, seen.st_ino, seen.st_size, seen.st_mtime_ns)
            if self._later[0] != state:
                held = await Git(pristine.git_dir, pristine.files).run("ls-files", "-z")
                names = held.out.split(b"\0")
                root = self._place.work_tree or Path()
                self._later = (state, await asyncio.to_thread(_later, root, pristine.files, names))
        except (GitFailed, OSError):
            return []
        return self._later[1]

    def remove_unused(self) -> None:
        """Remove the trees that no process uses, and their folder if it is empty then."""
        self._tidy()
        with contextlib.suppress(OSError):
            self._home.rmdir()

    def release(self, user: Path) -> None:
        """A workspace is no longer mounted."""
        self._users.pop(user, None)

    async def close(self) -> None:
        if self._refreshing and not self._refreshing.done():
            self._refreshing.cancel()
            await asyncio.wait([self._refreshing])
        self._users.clear()
        self._newest = None
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def _find(self) -> Pristine | None:
        """The newest one that is there."""
        for folder in reversed(list(self._all())):
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                noted = json.loads((folder / _NOTE).read_text())
                found = Pristine(
                    folder,
                    str(noted["tree"]),
                    tuple(noted["filled"]),
                    str(noted["form"]),
                    tuple(noted["pointers"]),
                )
                if noted["objects"] != str(self._place.objects):
                    continue  # the repository was moved: git would search for objects at the old place
                if any(lfs.has_content(self._place, found.files, name) for name in found.pointers):
                    continue  # asked once for each process: what has the size may still be other content
                self._lock(folder)
                if (folder / _NOTE).exists():  # else it was removed before it was locked
                    return found
                os.close(self._locks.pop(folder))
        return None

    def _all(self) -> Iterator[Path]:
        """Whole ones, oldest first."""
        named = [folder for folder in self._home.glob("*") if folder.name.isdigit()]
        yield from sorted(named, key=lambda folder: int(folder.name))

    async def _make(self, tree: str) -> Pristine:
        number = 1 + max((int(folder.name) for folder in self._all()), default=0)
        # Read before git reads it: a change meanwhile makes one tree too many, and none with another form.
        form = form_of(self._place)
        fresh = Pristine(self._home / f"{number}-{uuid.uuid4().hex[:8]}", tree)
        fresh.files.mkdir(parents=True)
        self._lock(fresh.folder)
        try:
            borrows = [str(self._place.objects)]
            write_git_dir(fresh.git_dir, self._place, "ref: refs/heads/none", borrows)
            git = Git(fresh.git_dir, fresh.files, variables=_IN_PARALLEL)
            await git.run("read-tree", "--reset", "-u", tree)
            await self._age(fresh)
            filled, left = await lfs.fill(self._place, fresh.files, tree)
            note = {"tree": tree, "filled": filled, "objects": borrows[0], "form": form, "pointers": left}
            (fresh.folder / _NOTE).write_text(json.dumps(note))
            made = Pristine(self._home / str(number), tree, tuple(filled), form, tuple(left))
            fresh.folder.rename(made.folder)
        except BaseException:
            os.close(self._locks.pop(fresh.folder))
            await asyncio.to_thread(remove_tree, fresh.folder)
            raise
        self._locks[made.folder] = self._locks.pop(fresh.folder)
        self._refreshing = asyncio.create_task(_refresh(made))
        return made

    async def _age(self, fresh: Pristine) -> None:
        """Rule 4."""
        if self._place.work_tree is None or self._is_new:
            return
        user = self._place.checkout_git
        try:
            staged, edited, held = await asyncio.gather(
                user.run("diff-index", "--cached", "--name-only", "-z", fresh.tree),
                user.run("diff-files", "--name-only", "-z"),
                Git(fresh.git_dir, fresh.files).run("ls-files", "-z"),
            )
        except GitFailed:
            return  # then all of them are new: more is built again than has to be
        others = {*staged.out.split(b"\0"), *edited.out.split(b"\0")}
        same = [name for name in held.out.split(b"\0") if name not in others]
        await asyncio.to_thread(take_times, self._place.work_tree, fresh.files, same)

    def _lock(self, folder: Path) -> None:
        if folder not in self._locks:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_SH)
            self._locks[folder] = lock

    def _tidy(self) -> None:
        """Remove trees without a user, and what a process that died had half made."""
        used = {*self._users.values(), self._newest.folder if self._newest else None}
        for folder in self._home.iterdir():
            if folder not in used:
                self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Remove a tree that no process holds. It loses its name first, so that none begins to use it."""
        with contextlib.suppress(OSError):
            lock = self._locks.pop(folder, None)
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if lock is None else lock
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                gone = folder.with_name(f"gone-{uuid.uuid4().hex[:8]}")
                folder.rename(gone)
                remove_tree(gone)
            finally:
                os.close(lock)


async def _refresh(made: Pristine) -> None:
    """Tell the index of the times of its files, so that git need not read them all to say what changed."""
    git = Git(made.git_dir, made.files, unhurried=True)
    with contextlib.suppress(GitFailed, OSError):
        await git.run("update-index", "-q", "--refresh", ok=(0, 1))


def _touch(files: Path) -> None:
    """Rule 5: what was built a moment ago is older."""
    for folder, _, names in os.walk(os.fsencode(files)):
        for name in names:
            with contextlib.suppress(OSError):
                os.utime(folder + b"/" + name, follow_symlinks=False)


def _later(source: Path, target: Path, names: list[bytes]) -> list[bytes]:
    """The files that are newer below `source` than below `target`."""
    old, new = os.fsencode(target) + b"/", os.fsencode(source) + b"/"
    found = []
    for name in filter(None, names):
        with contextlib.suppress(OSError):
            if os.lstat(new + name).st_mtime_ns > os.lstat(old + name).st_mtime_ns:
                found.append(name)
    return found


def take_times(source: Path, target: Path, names: Sequence[bytes]) -> None:
    old, new = os.fsencode(source) + b"/", os.fsencode(target) + b"/"
    for name in filter(None, names):
        with contextlib.suppress(OSError):
            seen = os.lstat(old + name)
            os.utime(new + name, ns=(seen.st_atime_ns, seen.st_mtime_ns), follow_symlinks=False)
