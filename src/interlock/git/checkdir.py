"""A directory for checks, brought to any tree by touching only what differs.

Checks may call git, and in a directory without a repository they would find the user's own around it. So it
has a git dir of its own, made anew each time: one commit without a parent, holding exactly the tree.
"""

import asyncio
import shutil
from pathlib import Path

from interlock.git.command import Git
from interlock.git.commits import write_commit
from interlock.git.errors import GitFailed
from interlock.git.files import make_readable, remove_tree
from interlock.git.layout import point_to, write_git_dir
from interlock.git.place import Place
from interlock.git.strays import holds_just


class CheckFolder:
    """The reusable checkout. One user at a time."""

    def __init__(self, place: Place, number: int) -> None:
        self._place = place
        self._home = place.state / "check" / str(number)
        self.tree = self._home / "tree"
        self._trusted = self._home / "trusted.git"
        self._private = self._home / "private.git"

    async def bring_to(self, tree: str) -> Path:
        """The directory, with exactly these files: nothing untracked, nothing ignored, nothing left over."""
        try:
            await self._update(tree)
        except (GitFailed, OSError):
            # A check left something behind that git cannot deal with, or died half-way: start afresh.
            await asyncio.to_thread(self._remove)
            await self._update(tree)
        return self.tree

    async def _update(self, tree: str) -> None:
        await asyncio.to_thread(self._prepare)
        # Meanwhile: the private git dir is not in the way of git, and a thread can wait for the disk.
        private = asyncio.create_task(asyncio.to_thread(self._write_private, tree))
        try:
            await self._check_out(tree)
        finally:
            await private
        shutil.copy2(self._trusted / "index", self._private / "index")
        point_to(self.tree, "../private.git")

    def _prepare(self) -> None:
        if self.tree.is_symlink() or not (self._trusted / "index").exists():
            self._remove()
        self.tree.mkdir(parents=True, exist_ok=True)
        write_git_dir(self._trusted, self._place, "ref: refs/heads/none", [str(self._place.objects)])
        (self._trusted / "index.lock").unlink(missing_ok=True)
        remove_tree(self.tree / ".git")

    async def _check_out(self, tree: str) -> None:
        git = Git(self._trusted, self.tree)
        await git.run("read-tree", "--reset", "-u", tree)
        index = self._trusted / "index"
        if await asyncio.to_thread(holds_just, self.tree, index, self._place.id_bytes):
            return
        said = await git.run("clean", "-ffdxq", ok=(0, 1))
        if said.code:
            await asyncio.to_thread(make_readable, self.tree)
            await git.run("clean", "-ffdxq")

    def _write_private(self, tree: str) -> None:
        remove_tree(self._private)
        who = "Interlock <interlock@localhost> 0 +0000"
        content = f"tree {tree}\nauthor {who}\ncommitter {who}\n\nThe tree under check\n".encode()
        commit = self._place.object_id("commit", content)
        write_git_dir(self._private, self._place, commit, [str(self._place.objects)])
        write_commit(self._private / "objects", self._place, content)

    def _remove(self) -> None:
        remove_tree(self.tree)
        remove_tree(self._trusted)
