"""The files that the commits of the branch changed together, read once and kept.

Rules:
1. A merge counts as one change, as a task that lands does: only first parents are followed.
2. A file goes by the name it has today; what it was called before is looked up in the renames since.
3. A commit without a parent brings everything at once, and one with very many files moves or reformats them.
   Neither says which files belong together. Their renames are remembered nevertheless.
4. The file that is kept names the commit it goes up to. It is only used if the branch still leads there, and
   may be deleted at any time.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import write_durably
from interlock.model.history import PastCommit
from interlock.model.task import Commit

COMMITS_MOST = 2_000
"""Older ones tell about a tree that is no more."""
FILES_MOST = 100
_OUTPUT_BYTES = 64 << 20
_PATIENCE = ((COMMITS_MOST, 20.0), (100, 10.0))
"""Pairs of a number of commits and a time limit: in a huge repository the first read takes fewer commits."""
_WORDS = (
    *("--first-parent", "--diff-merges=first-parent", "--no-ext-diff", "--no-textconv"),
    # Beyond fifty files only those that were moved as they are are recognized: comparing all costs seconds.
    *("--name-status", "-z", "-M", "-l50", "--format=%x01%H %P"),
)
_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Kept:
    """The result of an earlier read."""

    version: int = _VERSION
    ref: str = ""
    tip: str = ""
    changes: tuple[PastCommit, ...] = ()


@dataclass(slots=True)
class _Commit:
    """One commit as git tells it."""

    id: Commit
    is_first: bool
    paths: list[str]
    renames: list[tuple[str, str]]


async def read_changes(git: Git, ref: str, cache: Path) -> tuple[PastCommit, ...]:
    """The latest changes of a branch, oldest first; only what is new since the last time is asked of git."""
    kept = _load(cache, ref)
    tip = (await git.names(ref))[0] or ""
    if not tip or tip == kept.tip:
        return kept.changes
    if kept.tip and not await _leads_to(git, kept.tip, tip):
        kept = _Kept()
    found = await _log(git, kept.tip, tip)
    if found is None:
        return kept.changes
    fresh, today = _understood(found)
    before = (_renamed(change, today) for change in kept.changes)
    changes = tuple([*before, *fresh][-COMMITS_MOST:])
    with contextlib.suppress(OSError):  # a full disk: it is read again
        write_durably(cache, msgspec.json.encode(_Kept(ref=ref, tip=tip, changes=changes)).decode())
    return changes


def _load(cache: Path, ref: str) -> _Kept:
    try:
        kept = msgspec.json.decode(cache.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return _Kept()
    return kept if (kept.version, kept.ref) == (_VERSION, ref) else _Kept()


async def _leads_to(git: Git, old: str, new: str) -> bool:
    said = await git.run("merge-base", "--is-ancestor", old, new, ok=(0, 1, 128))
    return said.code == 0


async def _log(git: Git, after: str, tip: str) -> list[_Commit] | None:
    """Newest first, as git tells them; None if it cannot."""
    span = f"{after}..{tip}" if after else tip
    for most, seconds in _PATIENCE:
        words = (*_WORDS, f"--max-count={most}", span, "--")
        with contextlib.suppress(GitFailed):
            said = await git.run("log", *words, limit_bytes=_OUTPUT_BYTES, timeout=seconds)
            commits = list(_parsed(said.items))
            return commits[:-1] if said.cut else commits
    return None


def _parsed(items: tuple[str, ...]) -> Iterator[_Commit]:
    commit: _Commit | None = None
    words = iter(items)
    for word in words:
        text = word.lstrip("\n")
        if text.startswith("\x01"):
            if commit:
                yield commit
            name, *parents = text[1:].split()
            commit = _Commit(Commit(name), not parents, [], [])
        elif commit and text:
            path = next(words, "")
            if text[0] in "RC":
                old, path = path, next(words, "")
                commit.renames += [(old, path)] if text[0] == "R" else []
            commit.paths.append(path)
    if commit:
        yield commit


def _understood(commits: list[_Commit]) -> tuple[list[PastCommit], dict[str, str]]:
    """The changes, oldest first, and what files of earlier commits are called today."""
    today: dict[str, str] = {}
    changes: list[PastCommit] = []
    for commit in commits:
        if not commit.is_first and 0 < len(commit.paths) <= FILES_MOST:
            changes.append(_renamed(PastCommit(commit.id, tuple(commit.paths)), today))
        for old, new in commit.renames:
            today[old] = today.get(new, new)
    return changes[::-1], today


def _renamed(change: PastCommit, today: dict[str, str]) -> PastCommit:
    return PastCommit(change.commit, tuple(sorted({today.get(path, path) for path in change.paths})))
