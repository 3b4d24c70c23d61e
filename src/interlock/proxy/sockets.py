"""The unix sockets: in a folder only we can enter, at a path that the kernel takes."""

import errno
import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PATH_BYTES = 100
"""The kernel takes 107, macOS 103."""
_NAME_BYTES = len("/x-01234567.sock")
_PREFIX = "interlock_"
"""Prefix of folders for one socket; nothing else of ours has it."""
_ABANDONED_SECONDS = 60.0
"""A socket without a listener may be one that is just being made, for as long as that can take."""


@contextmanager
def socket_path(folder: Path, kind: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """A fresh path, gone afterwards. `kind` is one letter."""
    place, is_ours = _place(folder, environ)
    path = place / f"{kind}-{secrets.token_hex(4)}.sock"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if is_ours:
            shutil.rmtree(place, ignore_errors=True)


def _place(folder: Path, environ: Mapping[str, str]) -> tuple[Path, bool]:
    """Return the folder itself if its paths are short enough, or else a new one with an unguessable name."""
    if _fits(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        _tidy(folder)
        return folder, False
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent")
    parents = [place for place in (runtime, Path(tempfile.gettempdir())) if place.is_dir()]
    roomy = [place for place in parents if _fits(place / f"{_PREFIX}01234567")]
    parent = roomy[0] if roomy else Path("/tmp")  # noqa: S108 - the one short path every system has; mkdtemp makes it safe
    _tidy_folders(parent)
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)), True


def _tidy_folders(parent: Path) -> None:
    """The same for folders that were made for one socket. Others may use the parent: only what is our own."""
    old = time.time() - _ABANDONED_SECONDS
    for folder in parent.glob(f"{_PREFIX}????????"):
        with suppress(OSError):
            about = folder.lstat()
            if about.st_uid == os.geteuid() and about.st_mtime < old and not folder.is_symlink():
                _tidy(folder)
                folder.rmdir()


def _tidy(folder: Path) -> None:
    """Remove what processes left that had no time to."""
    old = time.time() - _ABANDONED_SECONDS
    for path in folder.glob("?-*.sock"):
        with suppress(FileNotFoundError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)  # one that is stopped would hold us up
            if path.stat().st_mtime < old and probe.connect_ex(str(path)) == errno.ECONNREFUSED:
                path.unlink()


def _fits(folder: Path) -> bool:
    return len(bytes(folder.absolute())) + _NAME_BYTES <= PATH_BYTES
