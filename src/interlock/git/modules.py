"""Finds the submodules of a tree, at the commits that the tree names.

1. The tree that is tested is the tree that lands. So a submodule is shown as the tree says, whatever the
   person's checkout of it holds: another commit, edits, or nothing any more.
2. Its files are made from objects that are here: nothing is fetched. A submodule that is here without the
   commit is an error, for a check without its files would say nothing about the tree.
3. One that was never initialized has no repository here, and is an empty folder, as in the checkout.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import git_dir_of, remove_tree
from interlock.git.layout import write_git_dir
from interlock.git.place import Place
from interlock.git.submodules import edited
from interlock.git.trees import take_times
from interlock.model.errors import EnvironmentProblem

_LINK = b"160000 "
_MOST_KNOWN = 2_000


class AbsentCommit(EnvironmentProblem):
    """A submodule has not the commit that the tree names."""

    code = "submodule-commit"


@dataclass(frozen=True, slots=True)
class Module:
    """A submodule of a tree, and a repository that has its commit."""

    path: str
    """Relative to the top of the tree, also of a submodule in a submodule."""
    commit: str
    repository: Path | None = None
    """Its git dir; None: no repository of it is here, or none has the commit."""
    checkout: Path | None = None
    """The folder in the person's checkout, if it is filled."""
    is_initialized: bool = False
    """True if a repository of it is here."""

    @property
    def git(self) -> Git | None:
        """Git on the person's checkout of it, with their settings."""
        own = git_dir_of(self.checkout) if self.checkout else None
        return Git(own, self.checkout, as_user=True) if own else None


class Modules:
    """The submodules of one repository's trees."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: dict[tuple[str, str], tuple[Module, ...]] = {}

    async def of(self, tree: str, named_by: str = "") -> tuple[Module, ...]:
        """Return the initialized submodules of a tree, each before those in it. Raises `AbsentCommit`.

        `named_by`: the tree with the `.gitmodules`, if that is another one.
        """
        if not has_modules(self._place):
            return ()
        key = (tree, named_by)
        if key not in self._known:
            found = await find_modules(self._place, tree, named_by or tree)
            for each in found:
                if each.is_initialized and each.repository is None:
                    raise AbsentCommit(absent_text(each), update_command(each.path))
            while len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            # An initialized one may have been removed since, and another one may be there soon.
            self._known[key] = tuple(each for each in found if each.repository)
        return self._known[key]

    def forget(self) -> None:
        """Submodules may have been initialized: look again."""
        self._known.clear()


def has_modules(place: Place) -> bool:
    """Return False if no repository of a submodule can be here. Asks no git."""
    checked_out = place.work_tree is not None and os.path.lexists(place.work_tree / ".gitmodules")
    return checked_out or (place.common_dir / "modules").is_dir()


def absent_text(module: Module) -> str:
    return (
        f"the repository of submodule {module.path} has no commit {module.commit[:12]}, which the tree names"
    )


def update_command(path: str) -> str:
    return f"git submodule update --init --recursive -- {path}"


async def find_modules(place: Place, tree: str, named_by: str) -> tuple[Module, ...]:
    """Return all submodules of a tree, also those that are not initialized."""
    return tuple(await _within(Git(place.common_dir), place.work_tree, place.common_dir, tree, named_by, ""))


async def _within(
    git: Git, checkout: Path | None, around: Path, tree: str, named_by: str, prefix: str
) -> list[Module]:
    """The submodules of a tree of the repository `around`, which may be a submodule itself."""
    if (await git.names(f"{named_by}:.gitmodules"))[0] is None:
        return []
    names = await _names(git, named_by)
    listed = list[Module]()
    for entry in (await git.run("ls-tree", "-r", "-z", tree)).out.split(b"\0"):
        if not entry.startswith(_LINK):
            continue
        words, _, path = entry.partition(b"\t")
        commit, name = words.split()[2].decode(), os.fsdecode(path)
        folder = checkout / name if checkout and os.path.lexists(checkout / name / ".git") else None
        homes = [git_dir_of(folder) if folder else None, _home(around, names.get(name, ""))]
        there = [home for home in dict.fromkeys(homes) if home and (home / "objects").is_dir()]
        having = [home for home in there if (await _bare(home).names(f"{commit}^{{commit}}"))[0]]
        module = Module(f"{prefix}{name}", commit, next(iter(having), None), folder, bool(there))
        listed.append(module)
        if module.repository:
            inside, home = _bare(module.repository), module.repository
            listed += await _within(inside, folder, home, commit, commit, f"{module.path}/")
    return listed


def _bare(home: Path) -> Git:
    """Git on a repository alone: the work tree that its configuration names may be gone."""
    return Git(home, variables={"GIT_WORK_TREE": str(home)})


async def _names(git: Git, tree: str) -> dict[str, str]:
    """The names of submodules, by their paths, as the `.gitmodules` of a tree gives them."""
    words = ("config", "--blob", f"{tree}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    said = await git.run(*words, ok=range(256))
    found = dict[str, str]()
    for entry in said.out.split(b"\0"):
        key, _, path = os.fsdecode(entry).partition("\n")
        found[path] = key.removeprefix("submodule.").removesuffix(".path")
    return found


def _home(around: Path, name: str) -> Path | None:
    """The folder of a submodule's repository. A name that leads out of `modules` has none, as for git."""
    if not name or name.startswith("/") or ".." in PurePosixPath(name).parts:
        return None
    return around / "modules" / name


async def write_modules(place: Place, modules: Sequence[Module], target: Path, scratch: Path) -> None:
    """Write the files of the submodules to their places below `target`. `scratch` is for their git dirs."""
    for number, module in enumerate(modules):
        if module.repository is None:
            continue
        folder, git_dir = target / module.path, scratch / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        own = replace(place, common_dir=module.repository)
        write_git_dir(git_dir, own, "ref: refs/heads/none", [str(own.objects)])
        git = Git(git_dir, folder)
        try:
            await git.run("read-tree", "--reset", "-u", module.commit)
        except GitFailed as problem:  # some of its objects were never fetched
            text = f"submodule {module.path} cannot be written at {module.commit[:12]}: {problem.said}"
            raise AbsentCommit(text, update_command(module.path)) from problem
        await _take_times(git, module, folder)
    await asyncio.to_thread(remove_tree, scratch)


async def _take_times(git: Git, module: Module, folder: Path) -> None:
    """Give files that are the same in the checkout their time there: what was built from them is newer."""
    theirs = module.git
    if theirs is None or module.checkout is None or await head_of(module) != module.commit:
        return
    try:
        held, other = await asyncio.gather(git.run("ls-files", "-z"), edited(theirs))
    except GitFailed:
        return
    differ = set(map(os.fsencode, other))
    same = [name for name in held.out.split(b"\0") if name and name not in differ]
    await asyncio.to_thread(take_times, module.checkout, folder, same)


async def head_of(module: Module) -> str:
    """Return the commit that the person's checkout of a submodule is at; empty: it is not checked out."""
    theirs = module.git
    return ((await theirs.names("HEAD^{commit}"))[0] or "") if theirs else ""
