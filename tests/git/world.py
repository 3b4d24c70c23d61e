"""A user's repository on disk, and the user: real git, nobody's configuration."""

import asyncio
import os
import subprocess
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from interlock.git.discover import discover
from interlock.git.place import Place
from interlock.git.repository import GitRepository
from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import Commit, Tree

_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:  # Any: what a coroutine yields to its loop
    return asyncio.run(work)


def git(where: Path, *argv: str, feed: bytes | None = None, check: bool = True) -> str:
    """Git as a person or an agent would run it there."""
    said = subprocess.run(["git", *argv], cwd=where, input=feed, capture_output=True, check=False)
    if check and said.returncode:
        raise AssertionError(f"git {argv}: {said.stderr.decode()}")
    return said.stdout.decode(errors="surrogateescape").strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@dataclass(frozen=True)
class World:
    """The user's checkout and what Interlock makes of it."""

    root: Path

    @cached_property
    def place(self) -> Place:
        return run(discover(self.root))

    @property
    def repository(self) -> GitRepository:
        return GitRepository(self.place)

    @property
    def workspaces(self) -> GitWorkspaces:
        return GitWorkspaces(self.place)

    @property
    def main(self) -> Commit:
        return Commit(git(self.root, "rev-parse", "refs/heads/main"))

    def commit(self, files: dict[str, str], message: str = "work") -> Commit:
        """The user edits, and commits on what is checked out."""
        write(self.root, files)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", message)
        return Commit(git(self.root, "rev-parse", "HEAD"))

    def made(self, files: dict[str, str | None], parent: str) -> Commit:
        """A commit on `parent` that no checkout knows about."""
        index = self.root / ".git" / "made-index"
        env = {**os.environ, "GIT_INDEX_FILE": str(index)}

        def plumb(*argv: str, feed: str = "") -> str:
            said = subprocess.run(
                ["git", *argv], cwd=self.root, env=env, input=feed, text=True, capture_output=True, check=True
            )
            return said.stdout.strip()

        plumb("read-tree", parent)
        written = {name: text for name, text in files.items() if text is not None}
        for name in files.keys() - written.keys():
            plumb("update-index", "--force-remove", "--", name)
        blobs = {text: plumb("hash-object", "-w", "--stdin", feed=text) for text in set(written.values())}
        rows = "".join(f"100644 {blobs[text]}\t{name}\0" for name, text in written.items())
        plumb("update-index", "-z", "--index-info", feed=rows)
        made = plumb("commit-tree", plumb("write-tree"), "-p", parent, "-m", "made")
        index.unlink()
        return Commit(made)

    def tree(self, revision: str) -> Tree:
        return Tree(git(self.root, "rev-parse", f"{revision}^{{tree}}"))

    def status(self) -> str:
        return git(self.root, "status", "--porcelain", "--untracked-files=all")


def make_world(root: Path, *, options: tuple[str, ...] = ()) -> World:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", *options)
    world = World(root)
    world.commit({"a.txt": "one\ntwo\nthree\n", "src/b.txt": "b\n", ".gitignore": "*.log\nbuild/\n"}, "start")
    world.place.ensure_state()
    return world
