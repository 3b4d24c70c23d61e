"""Refs below refs/interlock. Only Interlock writes them, so a lock that stays there is left over."""

import asyncio
from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import mark_of

_LOCK_SECONDS = 2.0
"""Git holds the lock of a ref for a moment only."""


async def set_own_refs(git: Git, common_dir: Path, changes: str) -> None:
    """Carry out changes in the words of `update-ref --stdin`, also after a git process of ours was killed."""
    words, feed = ("update-ref", "--stdin"), changes.encode()
    try:
        await git.run(*words, feed=feed)
    except GitFailed as problem:
        if ".lock'" not in problem.said:
            raise
        await drop_old_locks(common_dir)
        await git.run(*words, feed=feed)


async def drop_old_locks(common_dir: Path) -> None:
    """Remove the locks of git processes of ours that were killed, or died with the power."""
    before = {lock: mark_of(lock) for lock in (common_dir / "refs/interlock").rglob("*.lock")}
    if before:
        await asyncio.sleep(_LOCK_SECONDS)
    for lock, mark in before.items():
        if mark and mark_of(lock) == mark:
            lock.unlink(missing_ok=True)
