"""Finds what a program wrote into the upper layer of its workspace, as changes to the tree that was below.

The upper layer is read as it lies on the disk, mounted or not: after a crash nothing else is there.
Everything in it was written by the program, or by us when the workspace was made. A file that was removed is
a device with the number 0, and a folder that was replaced as a whole carries a mark.
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interlock.git import bounds
from interlock.git.command import Git, nul_ended
from interlock.git.files import folders_above, walk

REPLACED = "user.overlay.opaque"
"""The mark. A program cannot set it: the kernel keeps this name for itself in what we mount."""
_AT_ONCE = 400
"""Paths in the words of one command."""
_STEERING = (".gitignore", ".gitattributes")
"""Files that decide which others count."""


@dataclass(slots=True)
class Written:
    """The paths of an upper layer, relative to it."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    """Folders that show nothing of what was below them."""
    content_bytes: int = 0
    """The bytes to read in the files, which may be far more than they take on the disk."""

    def missing(self, begun: Iterable[str]) -> set[str]:
        """Find the files that the layer began with and that are gone."""
        return set(begun) - self.files - self.folders - self.gone

    def shows_below(self, path: str) -> bool:
        """Return True if the program would see the lower layer's file at this path."""
        if path in self.files or path in self.gone or path in self.folders:
            return False
        return not any(
            above in self.files or above in self.gone or above in self.replaced
            for above in folders_above(path)
        )


def look_at(upper: Path) -> Written:
    """Everything in the layer. No link is followed; the agent's git dir is not part of it."""
    found = Written()
    for path, entry in walk(upper):
        if path == ".git" or path.startswith(".git/"):
            continue
        if entry.is_dir(follow_symlinks=False):
            found.folders.add(path)
            if is_replaced(entry.path):
                found.replaced.add(path)
        elif entry.is_symlink():
            found.files.add(path)
        elif entry.is_file(follow_symlinks=False):
            found.files.add(path)
            found.content_bytes += entry.stat(follow_symlinks=False).st_size
        else:  # a device: it was removed; a pipe or the like: git has none, so what was there is gone
            found.gone.add(path)
    return found


def put_pipes_away(upper: Path, written: Written, *, layered: bool) -> None:
    """Remove a pipe that has the name of a file that git reads: git would wait for a writer."""
    for path in written.gone:
        spot = upper / path
        if spot.name in (*_STEERING, ".gitmodules") and not spot.is_char_device():
            spot.unlink()
            if layered:
                os.mknod(spot, stat.S_IFCHR, os.makedev(0, 0))  # what was below stays removed


async def check_content(git: Git, tree: Path, written: Written) -> None:
    """Refuse new files that take too long to read. Ignored ones are not read, so they do not count."""
    if written.content_bytes <= bounds.CONTENT_BYTES:
        return
    said = await git.run("ls-files", "-o", "-m", "-z", "--exclude-standard")
    names = [os.fsdecode(name) for name in said.out.split(b"\0") if name]
    sizes = {name: _size(tree / name) for name in names}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    bounds.check_content(sum(sizes.values()), largest, sizes.get(largest, 0))


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


async def show_steering(git: Git, written: Written, wanted: Iterable[str]) -> None:
    """Copy the lower layer's ignore rules, and the paths that are `wanted`, into the upper one.

    The program saw them there anyway. `git` is on the index of the lower layer, and its work tree is
    the upper one.
    """
    paths = {f"{folder}/{name}" for folder in written.folders for name in _STEERING}
    paths |= {*_STEERING, ".gitmodules", *wanted}
    shown = sorted(filter(written.shows_below, paths))
    # Most are not in the index; git says so of each, and goes on.
    await git.run(
        "checkout-index", "-q", "-z", "--stdin", feed=nul_ended(map(os.fsencode, shown)), ok=range(256)
    )


async def tracked(git: Git, tree: str, paths: Collection[str]) -> bytes:
    """List the tree's entries at these paths for `update-index`, without folders but with submodules."""
    literal = git.having(GIT_LITERAL_PATHSPECS="1")
    wanted = {os.fsencode(path) for path in paths}
    entries = list[bytes]()
    for some in _portions(sorted(paths)):
        said = await literal.run("ls-tree", "--full-tree", "-z", tree, "--", *some)
        for entry in said.out.split(b"\0"):
            words, _, path = entry.partition(b"\t")
            # Of a folder that is asked for beside a file in it, git lists the other files too.
            if path in wanted and not words.startswith(b"040000 "):
                mode, _, object_id = words.split(b" ")
                entries.append(b"%s %s\t%s\0" % (mode, object_id, path))
    return b"".join(entries)


async def removals(git: Git, tree: str, written: Written, zero: bytes) -> bytes:
    """List the removed paths of the tree for `update-index`. The paths that exist now are added later."""
    paths = {os.fsencode(path) for path in written.folders}
    literal = git.having(GIT_LITERAL_PATHSPECS="1")
    for some in _portions(sorted(written.files | written.gone | written.replaced)):
        said = await literal.run("ls-tree", "--full-tree", "-r", "-z", "--name-only", tree, "--", *some)
        paths.update(filter(None, said.out.split(b"\0")))
    return b"".join(b"0 %s\t%s\0" % (zero, path) for path in sorted(paths))


def is_replaced(path: str | Path) -> bool:
    """Return True for a folder of an upper layer that shows nothing of what is below it."""
    try:
        return os.getxattr(path, REPLACED, follow_symlinks=False) == b"y"
    except OSError:
        return False


def _portions(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), _AT_ONCE):
        yield paths[start : start + _AT_ONCE]
