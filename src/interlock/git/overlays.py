"""Workspaces and checks as layers: the tree of the branch below, what is written there above.

1. The upper layer starts with just the paths in which the wanted tree differs from the one below. These files
   are new, at any date of their commit: a build that compares times must see that they changed. So are those
   that the user has edited since: what was built in the checkout was built from other sources. One that was
   written again with the same content has the time that it has there.
   Where a file is gone that the checkout has, or a link leads elsewhere, all files are new: no time tells a
   build that.
2. Nothing is mounted here. The supervisor does that, for the program alone, as the grant says.
"""

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.beside import Built, CheckoutLayers, Shown, nothing_built
from interlock.git.command import Difference, Git, nul_ended
from interlock.git.files import folders_above
from interlock.git.ignored import Layer, is_dependency
from interlock.git.place import Place
from interlock.git.reach import layered_grant
from interlock.git.reduced import name_of
from interlock.git.trees import REDUCED_HOME, Near, Pristine, Trees, take_times
from interlock.model.sandbox import Grant, Overlay

_LINK, _SUBMODULE = "120000", "160000"


class Overlays:
    """Makes the layers of one repository's workspaces and checks."""

    def __init__(
        self, place: Place, built: Built = nothing_built, may_include: Callable[[str], bool] = lambda _: True
    ) -> None:
        """`built` knows the layers that a set-up has made for a tree; `may_include`: see `GitWorkspaces`."""
        self._place = place
        self._built = built
        self._trees = Trees(place)
        self._new_trees = Trees(place, is_new=True)
        self._reduced: dict[str, Trees] = {}
        """By the name of their inputs."""
        self._beside = CheckoutLayers(place, may_include)

    async def furnish(self, folder: AttemptFolder, tree: str, *, bare: bool = False) -> Grant:
        """The layers of a folder that has its git dirs already, and what its program may reach.

        `bare`: the tree alone, for a set-up to begin with.
        """
        modules = await self._beside.look_for(tree)
        shown = _nothing(folder) if bare else await self._beside.look()
        built = None if bare else await self._built(tree)
        near = await self._trees.near(tree, folder.home, timed=shown.has_products)
        is_timeless = shown.has_products and await asyncio.to_thread(self._is_timeless, near)
        if is_timeless:
            self._trees.release(folder.home)
            near = await self._new_trees.near(tree, folder.home)
        for path in (folder.tree, folder.work, folder.merged):
            path.mkdir()
        pristine = near.pristine
        if near.differences or near.edited or near.later:
            await self._write(folder, pristine, tree, near.differences)
            await _write_again(folder, pristine, [*near.edited, *near.later])
            if self._place.work_tree and near.later:
                await asyncio.to_thread(take_times, self._place.work_tree, folder.tree, near.later)
        else:
            _link(pristine.index, folder.index)
        for name in shown.stamps if is_timeless else ():
            _hide(folder.tree, name)
        shutil.copy2(folder.index, folder.private / "index")  # with its time: see `snapshot`
        if pristine.filled:
            await _overlook(folder, pristine)
        both = [built, shown] if built else [shown]
        lower = (str(pristine.files), *(str(each.folder) for each in both))
        whole = Overlay(lower, str(folder.tree), str(folder.work), str(folder.merged), str(self._place.at))
        layers = await asyncio.to_thread(self._layers, folder, pristine, _stacked(both), modules)
        return layered_grant(self._place, folder, (whole, *layers))

    async def furnish_reduced(
        self, folder: AttemptFolder, tree: str, only: str, inputs: Sequence[str]
    ) -> Grant:
        """The layers of a check that sees no more of `tree` than `only`, and installed dependencies.

        Nothing built or generated in the checkout is shown, and no git dir: `.git` is an empty folder.
        """
        modules = await self._beside.look_for(only, tree)
        shown, built = await self._beside.look(), await self._built(tree)
        near = await (await self._reduced_trees(inputs)).near(only, folder.home)
        for path in (folder.tree, folder.work, folder.merged):
            path.mkdir()
        if near.differences:
            await self._write(folder, near.pristine, only, near.differences)
        installed = tuple(layer for layer in shown.layers if is_dependency(layer.source))
        beside = _nothing(folder)
        for layer in installed:
            (beside.folder / layer.path).mkdir(parents=True, exist_ok=True)
        both = [*([built] if built else []), replace(beside, layers=installed)]
        lower = (str(near.pristine.files), *(str(each.folder) for each in both))
        whole = Overlay(lower, str(folder.tree), str(folder.work), str(folder.merged), str(self._place.at))
        layers = await asyncio.to_thread(self._layers, folder, near.pristine, _stacked(both), modules)
        return Grant(overlays=(whole, *layers))

    async def _reduced_trees(self, inputs: Sequence[str]) -> Trees:
        """The trees for these inputs: each set of inputs has its own, which differ little from each other."""
        name = name_of(inputs)
        if name not in self._reduced:
            home = self._place.state / REDUCED_HOME
            self._reduced[name] = Trees(self._place, home=home / name)
            others = [path for path in home.glob("*") if path.name not in self._reduced]
            for path in others:  # of inputs that a former graph had, or that another process uses
                await asyncio.to_thread(Trees(self._place, home=path).remove_unused)
        return self._reduced[name]

    def release(self, folder: AttemptFolder) -> None:
        for trees in (self._trees, self._new_trees, *self._reduced.values()):
            trees.release(folder.home)

    async def beside(self) -> str:
        """A digest of what is shown of the checkout beside the tree."""
        return await self._beside.digest()

    async def copy_modules(self, tree: str, folder: AttemptFolder, named_by: str = "") -> None:
        """Write the submodules of a tree to a folder that is a copy."""
        await self._beside.copy_modules(tree, folder.tree, folder.home / "modules", named_by)

    def forget_ignored(self) -> None:
        self._beside.forget()

    async def close(self) -> None:
        for trees in (self._trees, self._new_trees, *self._reduced.values()):
            await trees.close()
        await self._beside.close()

    def _is_timeless(self, near: Near) -> bool:
        """Return True if no file time shows how the wanted tree differs from the checkout: a file is gone,
        or a link leads to another one, which is as old as it was."""
        if self._place.work_tree is None:
            return False
        root, below = os.fsencode(self._place.work_tree) + b"/", os.fsencode(near.pristine.files) + b"/"
        written = {each.path for each in near.differences if not each.is_gone}
        gone = {each.path for each in near.differences if each.is_gone}
        edited = [path for path in near.edited if path not in written]
        lacking = (path for path in edited if not os.path.lexists(below + path))
        return (
            any(each.mode == _LINK for each in near.differences)
            or any(os.path.islink(below + path) for path in edited)  # noqa: PTH114 - names from git are bytes
            or any(os.path.lexists(root + path) for path in (*gone, *lacking))
        )

    async def _write(
        self, folder: AttemptFolder, pristine: Pristine, tree: str, differences: Sequence[Difference]
    ) -> None:
        """Rule 1."""
        shutil.copy2(pristine.index, folder.index)
        git = Git(pristine.git_dir, folder.tree).having(GIT_INDEX_FILE=str(folder.index))
        lines = b"".join(each.index_line for each in differences)
        await git.run("update-index", "-z", "--index-info", feed=lines)
        there = nul_ended(each.path for each in differences if not each.is_gone)
        await git.run("checkout-index", "-f", "-u", "-z", "--stdin", feed=there)
        # It has made an empty folder for each submodule, which takes nothing of the tree below away.
        modules = {os.fsdecode(each.path) for each in differences if each.mode == _SUBMODULE}
        gone = [os.fsdecode(each.path) for each in differences if each.is_gone]
        folders = sorted({above for path in gone for above in folders_above(path)})
        found = await self._place.git.names(*(f"{tree}:{above}" for above in folders)) if folders else []
        lost = {above for above, there in zip(folders, found, strict=True) if there is None}
        lost -= {above for above in lost if modules.intersection((above, *folders_above(above)))}
        for path in gone:
            top = next((above for above in reversed(list(folders_above(path))) if above in lost), path)
            _hide(folder.tree, top)

    def _layers(
        self, folder: AttemptFolder, pristine: Pristine, shown: Sequence[Layer], modules: Sequence[Layer]
    ) -> list[Overlay]:
        """A layer that the branch has files in by now would hide them, and is left out. A submodule is what
        the tree has there, whatever the tree below has."""
        fit = (
            layer
            for layer in shown
            if not _holds(pristine.files / layer.path) and not os.path.lexists(folder.tree / layer.path)
        )
        return [self._layer(folder, layer, number) for number, layer in enumerate((*modules, *fit))]

    def _layer(self, folder: AttemptFolder, layer: Layer, number: int) -> Overlay:
        home = folder.layers / str(number)
        upper, work, merged = home / "upper", home / "work", home / "merged"
        for path in (upper, work, merged):
            path.mkdir(parents=True)
        for name in layer.hidden:
            _hide(upper, name)
        at = str(self._place.at / layer.path)
        return Overlay((str(layer.source),), str(upper), str(work), str(merged), at)


async def _write_again(folder: AttemptFolder, pristine: Pristine, edited: Sequence[bytes]) -> None:
    """Write files again with the same content and a new time."""
    below, upper = os.fsencode(pristine.files) + b"/", os.fsencode(folder.tree) + b"/"
    same = [path for path in edited if _is_file(below + path) and not os.path.lexists(upper + path)]
    git = Git(pristine.git_dir, folder.tree).having(GIT_INDEX_FILE=str(folder.index))
    await git.run("checkout-index", "-f", "-u", "-q", "-z", "--stdin", feed=nul_ended(same), ok=(0, 1, 128))


async def _overlook(folder: AttemptFolder, pristine: Pristine) -> None:
    """Make the agent's git skip files of LFS: `commit -a` would replace their pointers."""
    git = Git(pristine.git_dir, folder.tree).having(GIT_INDEX_FILE=str(folder.private / "index"))
    feed = nul_ended(map(os.fsencode, pristine.filled))
    await git.run("update-index", "--skip-worktree", "-z", "--stdin", feed=feed, ok=(0, 128))


def _nothing(folder: AttemptFolder) -> Shown:
    """Return an empty layer, with just the folder for the git dir."""
    empty = folder.home / "nothing"
    (empty / ".git").mkdir(parents=True)
    return Shown(empty, ())


def _stacked(parts: Sequence[Shown]) -> list[Layer]:
    """The layers of all, without those that an earlier one stands in for."""
    taken: list[Layer] = []
    for part in parts:
        above = tuple(f"{layer.path}/" for layer in taken)
        taken += [layer for layer in part.layers if not f"{layer.path}/".startswith(above)]
    return taken


def _holds(path: Path) -> bool:
    """Return True if there is anything at the path; git makes an empty folder for a submodule."""
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_file(path: bytes) -> bool:
    """Return True for a file or a link. A folder is a submodule: an empty one above would hide its layer."""
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _hide(upper: Path, path: str) -> None:
    """Hide a file or folder of the lower layer, as the kernel does when it is removed."""
    spot = upper / path
    above = [upper / folder for folder in folders_above(path)]
    if os.path.lexists(spot) or any(os.path.lexists(each) and not each.is_dir() for each in above):
        return  # something else is there now, or on the way to it
    spot.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(spot, stat.S_IFCHR, os.makedev(0, 0))


def _link(source: Path, target: Path) -> None:
    """A copy that takes no room: git replaces an index, and never changes one."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
