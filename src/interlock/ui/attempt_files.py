"""Files of an attempt in the state folder: their names, and paths that a person can open."""

import os
import stat
from collections.abc import Iterable
from dataclasses import replace
from errno import EINVAL
from pathlib import Path
from typing import BinaryIO

from interlock.ui.queries.attempts import AttemptStory


def openable(state: Path, path: str, here: Path | None = None) -> str:
    """A file of the state folder, named so that it opens from where the person is."""
    if not path:
        return ""
    whole, here = state / path, here or Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def open_regular(path: Path) -> BinaryIO:
    """Open a file of the state folder to read; OSError if it is a folder, a pipe or a device.

    A pipe would keep the reader waiting, and a device such as /dev/zero has no end.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(EINVAL, "it is not a regular file", str(path))
    return os.fdopen(number, "rb")


def located(stories: Iterable[AttemptStory], state: Path, here: Path | None = None) -> list[AttemptStory]:
    """Name the files of attempts so that they open from `here`: where the person is, unless it is said."""
    found = list(stories)
    for phase in (phase for story in found for phase in story.phases):
        phase.log, phase.notes = openable(state, phase.log, here), openable(state, phase.notes, here)
        phase.checks = tuple(replace(check, log=openable(state, check.log, here)) for check in phase.checks)
    return found


def attempt_file(task: str, attempt: int, ending: str) -> str:
    """A file in the state folder: `log`, `prompt.md`, `events.jsonl`, or `model.jsonl` with the calls of the
    model. Facts name the log only at the end of the attempt."""
    return f"logs/{task}/{attempt}.{ending}"
