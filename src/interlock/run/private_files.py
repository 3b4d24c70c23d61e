"""Files about an attempt, which hold what people and agents said: no other user may read them."""

import os
from pathlib import Path
from typing import BinaryIO, Literal


def open_private(path: Path, how: Literal["ab", "wb"]) -> BinaryIO:
    """Open a file for writing. A new one is the user's alone, whatever the umask."""
    return open(path, how, opener=lambda name, flags: os.open(name, flags, 0o600))
