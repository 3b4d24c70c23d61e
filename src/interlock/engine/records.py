"""Records in the state folder: outputs of agents, transcripts and evidence, and which of them may go.

1. Only records of tasks that are over go, and of checks that belong to no task. What the next attempt or a
   person who retries may need stays.
2. The records of a task with a workspace that is not in the repository stay: they say what is in it.
3. They go by age, and beyond a size the oldest first, but none that is younger than a day.
4. The log of facts is no record: it always stays.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

YOUNG_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class RecordLimits:
    """The age and the size above which records go."""

    older_than_seconds: float
    most_bytes: int
    """0: no limit."""


@dataclass(frozen=True, slots=True)
class RecordFolder:
    """The outputs of one task, or the evidence of one order of checks."""

    path: Path
    owner: str
    """The task, or what else the checks were for."""
    age_seconds: float
    """Of the newest file."""
    size_bytes: int


def record_folders(state_dir: Path, now: float) -> list[RecordFolder]:
    """List the folders of records, the oldest first."""
    logs = ((path, path.name) for path in _inside(state_dir / "logs"))
    evidence = ((path, owner.name) for owner in _inside(state_dir / "evidence") for path in _inside(owner))
    found = [_measured(path, owner, now) for path, owner in (*logs, *evidence)]
    return sorted(found, key=lambda record: -record.age_seconds)


def outdated(
    records: Iterable[RecordFolder], needed: Collection[str], limits: RecordLimits
) -> list[RecordFolder]:
    """Return those that may go. `records`: the oldest first; `needed`: owners that keep all theirs."""
    records = list(records)
    left = sum(record.size_bytes for record in records)
    found = []
    for record in records:
        is_old = record.age_seconds >= limits.older_than_seconds
        is_too_much = bool(limits.most_bytes) and left > limits.most_bytes
        if record.owner not in needed and (is_old or (is_too_much and record.age_seconds >= YOUNG_SECONDS)):
            found.append(record)
            left -= record.size_bytes
    return found


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _measured(path: Path, owner: str, now: float) -> RecordFolder:
    newest, size = 0.0, 0
    for each in _files(path):
        newest, size = max(newest, each.st_mtime), size + each.st_blocks * 512
    return RecordFolder(path, owner, now - newest, size)


def _files(path: Path) -> Iterator[os.stat_result]:
    yield path.lstat()
    for folder, _, names in os.walk(path):
        for name in names:
            yield (Path(folder) / name).lstat()
