"""Notices landed work that commits reverted by mistake, from a checkout which a crash had left out of date.

1. Only a move that was interrupted counts, and only files that again have the content from before it. So a
   person who edits landed lines later is not told.
2. A commit message that names the landed commit says that it is meant.
3. Every command tells it until the files have another content, or rule 2 holds.
"""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from interlock.git.catch_up import CatchUp
from interlock.git.checkout import Worktree, worktree_at
from interlock.git.files import folders_above
from interlock.git.journal import Journal, Pending
from interlock.git.place import Place

FOLDER = "taken_back"
_SHOWN = 5


class TakenBack:
    """The interrupted moves of one repository that commits took back."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._folder = place.state / FOLDER

    @property
    def is_there(self) -> bool:
        """True if there is something to report. Cheap."""
        return self._folder.is_dir()

    async def look(self, pending: Pending) -> None:
        """Remember the move if commits took something of it back. Before its journal is removed."""
        if await self._losses(pending):
            self._record(pending.new).write(pending)

    async def told(self) -> str:
        """Say which landings are still taken back, and what to do about it. Forgets the rest."""
        texts = []
        for file in sorted(self._folder.glob("*.json")):
            record = self._record(file.stem)
            pending = record.read()
            losses = await self._losses(pending) if pending else []
            texts += losses
            if not losses:
                record.clear()
        if self.is_there and not any(self._folder.glob("*.json")):
            for file in self._folder.iterdir():
                file.unlink()
            self._folder.rmdir()
        return "\n".join(texts)

    def _record(self, commit: str) -> Journal:
        return Journal(self._place, f"{FOLDER}/{commit[:12]}.json")

    async def _losses(self, pending: Pending) -> list[str]:
        """Describe the loss on the branch, and in each checkout that a person took to another branch."""
        (tip,) = await self._place.git.names(f"refs/heads/{pending.branch}")
        found: dict[str, tuple[str, Worktree | None]] = {tip: (f"on {pending.branch}", None)} if tip else {}
        for tree in filter(None, (worktree_at(Path(path)) for path in pending.trees)):
            head = (await tree.git.run("rev-parse", "HEAD")).line
            where, _ = found.get(head, (f"in {tree.path}", None))
            found[head] = (where, tree)
        looks = [await self._loss(pending, at, where, tree) for at, (where, tree) in found.items()]
        return [text for text in looks if text]

    async def _loss(self, pending: Pending, at: str, where: str, tree: Worktree | None) -> str:
        git, new = self._place.git, pending.new
        if at == new or (await git.run("merge-base", "--is-ancestor", new, at, ok=(0, 1))).code:
            return ""
        landed = {each.path for each in await git.changes(pending.old, new)}
        back = sorted(landed.difference(each.path for each in await git.changes(pending.old, at)))
        said = await git.run("rev-list", "-1", "--fixed-strings", f"--grep={new[:12]}", f"{new}..{at}")
        if not back or said.line:
            return ""
        feed = b"".join(line + b"\n" for line in (b"--", *(b":(top,literal)" + path for path in back)))
        since = (await git.run("rev-list", f"{new}..{at}", "--stdin", feed=feed)).line.split()
        part = "a part of " if len(back) < len(landed) else ""
        edited = await CatchUp(self._place, tree, pending).edited_since(back) if tree else []
        paths = [os.fsdecode(path) for path in back]
        return (
            f"{_takes_back(since, where)} {part}what landed as {new[:12]}: {_some(paths)}. "
            f"The checkout was not up to date when it was committed.{_first(edited)} To restore it: "
            f"{self._command(tree, new, paths)}\n"
            f"If you meant to revert it: git commit --allow-empty -m 'Without {new[:12]}'"
        )

    def _command(self, tree: Worktree | None, new: str, paths: Sequence[str]) -> str:
        top = str(tree.path if tree else self._place.work_tree or ".")
        # Git restores a file that became a folder, or the reverse, by the upper of the two names.
        paths = [path for path in paths if not set(paths).intersection(folders_above(path))]
        if len(paths) <= _SHOWN:
            which = "-- " + shlex.join(paths)
        else:
            file = self._folder / f"{new[:12]}.paths"
            self._folder.mkdir(exist_ok=True)
            file.write_bytes(b"".join(os.fsencode(path) + b"\0" for path in paths))
            which = f"--pathspec-from-file={shlex.quote(str(file))} --pathspec-file-nul"
        git = f"git -C {shlex.quote(top)}"
        restore = f"{git} --literal-pathspecs restore --source={new[:12]} --staged --worktree {which}"
        return f"{restore} && {git} commit -m 'Bring back {new[:12]}'"


def _takes_back(commits: Sequence[str], where: str) -> str:
    names = _some([commit[:12] for commit in commits])
    return f"commit {names} {where} reverts" if len(commits) == 1 else f"commits {names} {where} revert"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def _first(edited: Sequence[str]) -> str:
    return f" First commit your edits of {_some(edited)}, or move them away." if edited else ""
