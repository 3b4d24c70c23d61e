"""One workspace per attempt and one room per check: overlays, or copies on systems without overlays."""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from interlock.git import include, intake, snapshot
from interlock.git.attempt import AttemptFolder, DamagedNote, Kept, WorkspaceOpened
from interlock.git.beside import Built, nothing_built
from interlock.git.bounds import check_files
from interlock.git.command import Git, to_the_end
from interlock.git.errors import GitFailed, is_outside
from interlock.git.files import remove_tree
from interlock.git.making import copy_files, dedicate, dedicate_to_check, make_git_dirs
from interlock.git.overlays import Overlays
from interlock.git.own_refs import set_own_refs
from interlock.git.place import Place, ref_word
from interlock.git.protocol import CheckRoom, Collected, Workspace
from interlock.git.reach import copied_grant
from interlock.git.reduced import ReducedTrees
from interlock.git.trash import Left, Trash
from interlock.git.written import look_at
from interlock.model.errors import EnvironmentProblem, InterlockError, RejectedObjects
from interlock.model.sandbox import Grant
from interlock.model.task import TASK_ID, Commit, TaskId, Tree

_AT_ONCE = 2
"""Ten agents that end together want a hundred git processes. One after the other the first is ready, and its
slot taken again, in a tenth of the time; all at once they are all ready last."""


class GitWorkspaces:
    """Makes, collects and gives up workspaces. Nothing an agent wrote is ever deleted unarchived."""

    def __init__(
        self,
        place: Place,
        limit_bytes: int = intake.LIMIT_BYTES,
        why_copies: Callable[[], str] = lambda: "overlays are not set up",
        built: Built = nothing_built,
        may_include: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """`why_copies` says why workspaces cannot be overlays here; nothing: they can. It is asked once.
        `built` knows the layers that a set-up has made for a tree. `may_include` says whether the patterns
        of `.worktreeinclude` count."""
        self._place = place
        self._limit_bytes = limit_bytes
        self._trash = Trash(place)
        self._pins = Git(place.common_dir)
        """Writes refs that hold a base while it is in use, without waiting for the disk."""
        self._pinned: set[Commit] = set()
        self._opening, self._collecting = asyncio.Semaphore(_AT_ONCE), asyncio.Semaphore(_AT_ONCE)
        self._overlays = Overlays(place, built, may_include)
        self._reduced = ReducedTrees(place)
        self._may_include = may_include
        self._ask_why_copies = why_copies

    @cached_property
    def why_copies(self) -> str:
        """The reason why a workspace is a copy, at a path of its own; empty: it is an overlay."""
        return self._ask_why_copies()

    @property
    def at_checkout(self) -> bool:
        """True if programs find their files at the path of the user's checkout."""
        return not self.why_copies

    async def beside(self) -> str:
        """A digest of what workspaces show of the checkout beside the tree."""
        return await self._overlays.beside()

    def forget_ignored(self) -> None:
        """Dependencies of the checkout were installed: the next workspaces show them."""
        self._overlays.forget_ignored()

    async def close(self) -> None:
        await self._trash.close()
        await self._overlays.close()

    async def open(self, task: TaskId, attempt: int, base: Commit, start: str = "") -> Workspace:
        """Make a fresh checkout of `base`, or of `start`, which an earlier attempt on the same base left.

        It has a git dir of its own. Files of an earlier try are archived first.
        """
        folder = self._folder(task, attempt)
        if folder.home.exists():
            await self._clear(task, attempt)
        names = await self._place.git.names(f"{start}^{{commit}}") if start else [None]
        head = names[0] or base
        made = self._furnish(folder, head), self._pin(task, attempt, base)
        furnished, pinned = await asyncio.gather(*made, return_exceptions=True)
        for problem in (furnished, pinned):
            if isinstance(problem, BaseException):  # only now: nothing of the other may go on meanwhile
                raise problem
        assert isinstance(furnished, _Furnished)  # noqa: S101 - no problem, so that is what it is
        dedicate(self._place, folder, task, base, head)
        begun = tuple(sorted(look_at(folder.tree).files)) if furnished.tree else ()
        opened = WorkspaceOpened(
            task, attempt, base, furnished.included, furnished.tree, furnished.shown, begun
        )
        folder.note(opened)
        return folder.workspace(opened, furnished.path, furnished.grant)

    async def reduced(self, tree: Tree, inputs: Sequence[str]) -> Tree:
        """The tree with only the files that match one of the globs; without globs, the tree itself."""
        return await self._reduced.tree(tree, inputs)

    async def _furnish_reduced(self, folder: AttemptFolder, tree: Tree, inputs: Sequence[str]) -> CheckRoom:
        """A room with some files of a tree and nothing else of the repository, also no objects."""
        only = await self._reduced.tree(tree, inputs)
        layered = await asyncio.to_thread(lambda: not self.why_copies)
        async with self._opening:
            await make_git_dirs(self._place, folder, layered=layered)
            if not layered:
                await copy_files(folder, only)
                await self._overlays.copy_modules(only, folder, tree)
                (folder.tree / ".git").unlink()
                return CheckRoom(folder.tree, Grant(write=(str(folder.tree),)))
            return CheckRoom(self._place.at, await self._overlays.furnish_reduced(folder, tree, only, inputs))

    async def _furnish(self, folder: AttemptFolder, head: str, *, bare: bool = False) -> "_Furnished":
        layered = await asyncio.to_thread(lambda: not self.why_copies)
        async with self._opening:
            await make_git_dirs(self._place, folder, layered=layered)
            if not layered:
                await copy_files(folder, head)
                await self._overlays.copy_modules(head, folder)
                included = await include.include(self._place, folder.tree, self._may_include)
                return _Furnished(folder.tree, copied_grant(self._place, folder), included)
            tree = (await self._place.git.names(f"{head}^{{tree}}"))[0] or ""
            grant = await self._overlays.furnish(folder, tree, bare=bare)
        shown = tuple(os.path.relpath(overlay.at, self._place.at) for overlay in grant.overlays[1:])
        return _Furnished(self._place.at, grant, {}, tree, shown)

    async def _pin(self, task: TaskId, attempt: int, base: Commit) -> None:
        """Hold on to the base. One attempt does it for all: what it leaves behind leads to the base too."""
        if base not in self._pinned:
            self._pinned.add(base)
            try:
                await self._set_refs(f"update {_base_ref(task, attempt)} {base}\n")
            except BaseException:
                self._pinned.discard(base)
                raise

    async def collect(self, workspace: Workspace, message: str) -> Collected:
        """Import everything the workspace holds, through strict checks, without using the agent's git dir.

        Unhurried: starting the next agent and landing what is there already go first. Raises
        `RejectedObjects` when git refuses what the agent made, or the agent damaged the workspace.
        """
        self._overlays.release(AttemptFolder(workspace.home))
        async with self._collecting:
            try:
                return await self._collect(workspace, message)
            except OSError as problem:
                raise _damage(workspace, problem) from problem

    async def _collect(self, workspace: Workspace, message: str) -> Collected:
        folder, base, git = AttemptFolder(workspace.home), workspace.base, self._place.git
        try:
            taken = await self._take(folder, base, message)
        except GitFailed as problem:
            raise _damage(workspace, problem) from problem
        ref = _work_ref(workspace.task, workspace.attempt)
        changes = await git.changes(base, taken.commit)
        check_files(len(changes))
        await self._keep(ref, taken)
        folder.note(Kept(taken.commit, ref, taken.leftovers))
        touched = tuple(each.name for each in changes)
        return Collected(Commit(taken.commit), ref, bool(touched), touched)

    async def _take(self, folder: AttemptFolder, base: Commit, message: str) -> snapshot.Snapshot:
        """Commits of all that the folder holds, with their objects in the repository."""
        folder.forget_collected()
        taken = await snapshot.take(folder, self._place, base, message)
        wanted = [commit for commit in (taken.commit, taken.lost) if commit and commit != base]
        if wanted:
            trusted = Git(folder.trusted, folder.tree, unhurried=True, untrusted=True)
            await intake.take_in(self._place, trusted, wanted, base, self._limit_bytes)
        return taken

    async def discard(self, workspace: Workspace) -> Path | None:
        """Give up the directory. What the repository has not goes to the trash: where it is now."""
        self._overlays.release(AttemptFolder(workspace.home))
        return await self._trash.give_up(AttemptFolder(workspace.home))

    async def find(self, task: TaskId, attempt: int) -> Workspace | None:
        """A workspace that an earlier process left. A half-made one is removed: no agent was ever in it."""
        folder = self._folder(task, attempt)
        try:
            opened = folder.opened()
        except DamagedNote:
            await self._trash.give_up(folder)
            return None
        if opened:
            return folder.workspace(opened, self._place.at if opened.tree else folder.tree)
        if folder.home.exists():
            self._pinned.clear()  # it may have held on to its base for others
            await self._pins.run("update-ref", "-d", _base_ref(task, attempt))
            await asyncio.to_thread(remove_tree, folder.home)
        return None

    async def check_out(
        self, tree: Tree, home: Path, *, bare: bool = False, inputs: Sequence[str] = ()
    ) -> CheckRoom:
        """A clean directory with exactly this tree, for one check. `home` is a folder for it alone.

        `bare`: without what the checkout or a set-up has beside the tree. `inputs`: only the files of the
        tree that match one of these globs, and installed dependencies.
        """
        folder = AttemptFolder(home)
        if inputs:
            return await self._furnish_reduced(folder, tree, inputs)
        furnished = await self._furnish(folder, tree, bare=bare)
        await dedicate_to_check(folder, tree)
        return CheckRoom(furnished.path, furnished.grant)

    async def clear(self, home: Path) -> None:
        """Remove what a check left. It is gone when this returns, also if the caller was cancelled."""
        self._overlays.release(AttemptFolder(home))
        await to_the_end(asyncio.to_thread(remove_tree, home))

    def listing(self) -> list[Left]:
        return self._trash.listing()

    async def gc(self, older_than_seconds: float, *, dry_run: bool = False) -> list[Left]:
        """Empty the trash of what is old enough and safe in the repository; what was removed, or would be."""
        return await self._trash.empty(older_than_seconds, dry_run=dry_run)

    def _folder(self, task: str, attempt: int) -> AttemptFolder:
        if not re.fullmatch(TASK_ID, task):
            raise ValueError(f"{task!r} is not a task id")
        return AttemptFolder(self._place.state / "workspaces" / task / str(attempt))

    async def _clear(self, task: TaskId, attempt: int) -> None:
        """Make room: a left-over workspace is collected first, so that nothing in it is lost."""
        if left_over := await self.find(task, attempt):
            with contextlib.suppress(RejectedObjects):  # then it goes to the trash as it is
                await self.collect(left_over, "Left over from an earlier try\n")
            await self.discard(left_over)

    async def _keep(self, ref: str, taken: snapshot.Snapshot) -> None:
        """Refs on all that was taken, and on what the same attempt brought before."""
        pin = ref.replace("/work/", "/bases/", 1)
        before, pinned = await self._place.git.names(ref, pin)
        archive = ref.replace("/work/", "/archive/", 1)
        old = {commit for commit in (before, taken.lost) if commit and commit != taken.commit}
        lines = [f"update {archive}/{commit} {commit}\n" for commit in sorted(old)]
        # What was taken leads to the base, so that the base needs no ref of its own any more.
        lines.append(f"delete {pin}\n" if pinned else "")
        await self._set_refs("".join([*lines, f"update {ref} {taken.commit}\n"]))

    async def _set_refs(self, changes: str) -> None:
        await set_own_refs(self._place.git, self._place.common_dir, changes)


@dataclass(frozen=True, slots=True)
class _Furnished:
    """The content of a new folder."""

    path: Path
    grant: Grant
    included: Mapping[str, str]
    tree: str = ""
    shown: tuple[str, ...] = ()


def _damage(workspace: Workspace, problem: GitFailed | OSError) -> InterlockError:
    """Build the error of a workspace that an agent damaged. Trying again would always fail."""
    if is_outside(problem):
        return EnvironmentProblem(f"{workspace.home} cannot be imported: {problem}")
    return RejectedObjects(f"the workspace is damaged: {problem}")


def _work_ref(task: str, attempt: int) -> str:
    return f"refs/interlock/work/{ref_word(task)}/{attempt}"


def _base_ref(task: str, attempt: int) -> str:
    return f"refs/interlock/bases/{ref_word(task)}/{attempt}"
