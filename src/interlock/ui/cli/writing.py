"""Files that a person names: written beside and renamed, so that a full disk harms none."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import TextIO

from interlock.model.errors import EnvironmentProblem


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[TextIO]:
    """Yield a new file that takes the place of `path` when the block ends without an error.

    A link is replaced, never followed: a repository may hold one that leads elsewhere. An existing file keeps
    its mode; a new one gets `mode`, less what the user's umask takes.
    """
    fresh = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, fresh = mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            os.fchmod(number, _mode(path, mode))
            yield file
            file.flush()
            os.fsync(number)
        os.replace(fresh, path)  # noqa: PTH105 - a name of mkstemp
        fresh = ""
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write {path}: {error.strerror}", "make room or choose another place"
        ) from None
    finally:
        if fresh:
            Path(fresh).unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def _mode(path: Path, mode: int) -> int:
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        found = 0
    if stat.S_ISREG(found):
        return stat.S_IMODE(found)
    mask = os.umask(0o077)
    os.umask(mask)
    return mode & ~mask
