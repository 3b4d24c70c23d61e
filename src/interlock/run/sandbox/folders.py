"""How much is in the folders that a program may write to."""

import os
from collections.abc import Iterable


def used_bytes(folders: Iterable[str], most: int) -> int:
    """What they take on the disk; counting ends once it is more than `most`."""
    total = 0
    waiting = list(dict.fromkeys(folders))
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue  # it goes away while we look, or nobody may look: what it holds cannot be counted
    return total
