"""Whether a small folder holds exactly the files that an index names, found out without a git process.

Where this says no, or the folder is large, git is asked: it knows about ignored files, links and submodules.
"""

import os
from pathlib import Path

from interlock.git.index import small_index


def holds_just(tree: Path, index: Path, id_bytes: int) -> bool:
    """Is all that the folder holds in the index: files, links, folders of those. `.git` does not count."""
    held = small_index(index, id_bytes)
    try:
        return held is not None and _is_exact(os.fsencode(tree), {entry.name for entry in held.entries})
    except OSError:
        return False


def _is_exact(tree: bytes, tracked: set[bytes]) -> bool:
    needed = {b""}
    for name in tracked:
        while (name := name.rpartition(b"/")[0]) not in needed:
            needed.add(name)
    below = [b""]
    while below:
        folder = below.pop()
        path = os.path.join(tree, folder)  # noqa: PTH118 - names from git are bytes, which Path cannot hold
        with os.scandir(path) as entries:
            for entry in entries:
                name = folder + b"/" + entry.name if folder else entry.name
                if name == b".git":
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    if name not in tracked:
                        return False
                elif name in needed:
                    below.append(name)
                else:
                    return False
    return True
