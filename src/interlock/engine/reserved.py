"""The files of a repository that say what agents may do: a change of them goes back to the agent.

An agent that could land its own settings could let itself out at the next run.
"""

import os
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interlock.model.outcome import ErrorClass, Report
from interlock.model.task import Commit

PROJECT_FILE = "pyproject.toml"
Read = Callable[[Commit, str], Awaitable[bytes | None]]
"""Reads a file of a commit: empty if it is not there, None if it is too large."""


async def read_nothing(_commit: Commit, _path: str) -> bytes | None:
    """Where no file holds settings."""
    return b""


@dataclass(frozen=True, slots=True)
class Reserved:
    """What no agent's change may touch."""

    paths: frozenset[str] = frozenset()
    """As git names them, in any case: some file systems take `Interlock.TOML` for `interlock.toml`."""
    read: Read = read_nothing

    async def hold(self, report: Report) -> Report:
        """The report, or a refusal that names what the change must leave alone."""
        if report.error or report.commit is None:
            return report
        mine = sorted(path for path in report.touched if self._is_reserved(path))
        mine += [path for path in report.touched if await self._sets(report.base, report.commit, path)]
        if not mine:
            return report
        named = ", ".join(mine)
        why = f"it changed {named}, which says what agents may do; only a person changes that"
        return replace(report, error=ErrorClass.DENIED, summary=why, tail=f"Leave {named} as it was.")

    def _is_reserved(self, path: str) -> bool:
        """Is it one of these files, or something that takes the place of a folder above one."""
        folded = path.casefold()
        kept = {name.casefold() for name in self.paths}
        return folded in kept or any(name.startswith(f"{folded}/") for name in kept)

    async def _sets(self, base: Commit, work: Commit, path: str) -> bool:
        """Does the change alter `[tool.interlock]`, or make that unreadable."""
        if path.casefold() != PROJECT_FILE:
            return False
        before, after = own_table(await self.read(base, path)), own_table(await self.read(work, path))
        # By their text: to Python, `1` and `true` are equal.
        return repr(before) != repr(after) and (before is not None or bool(after))


def own_table(text: bytes | None) -> Mapping[str, Any] | None:  # Any: whatever TOML holds
    """What a pyproject.toml sets for Interlock; None if it makes no sense."""
    try:
        tool = tomllib.loads((text or b"").decode()).get("tool", {})
    except (ValueError, RecursionError):  # no TOML, no text, a number too long, brackets without end
        return None
    table = tool.get("interlock", {}) if text is not None and isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def names_in(root: Path, files: Sequence[str | Path]) -> Iterator[str]:
    """Files as git names them from the root; of a link, what it leads to as well."""
    ways = (path for name in files for path in (os.path.normpath(root / name), os.path.realpath(root / name)))
    return (os.path.relpath(path, base) for path in ways for base in (root, os.path.realpath(root)))
