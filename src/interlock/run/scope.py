"""The paths that an attempt's agent is expected to edit, and its requests for more.

1. No agent is caged. What an agent edits without asking is drift: it is seen, and it stands.
2. A program that asks before it edits waits for the answer, but not for long: without one it goes on.
3. All of it is the agent's word: paths are kept inside the workspace, and requests have an end.
"""

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath

from interlock.model.globs import matches

ASKED_MOST = 50
"""Requests of one attempt; each is a fact in the log. Afterwards it edits without asking."""
PATHS_MOST = 20
PATH_CHARS = 400
WHY_CHARS = 300
ANSWER_SECONDS = 5.0
"""The loop answers within a fraction of a second, unless it cannot."""
EDITING = "Edit|MultiEdit|Write|NotebookEdit"
"""The tools of programs that ask before they edit, by the names those have for them."""
_LINE = re.compile(r"^\s*::interlock\s+scope(?P<paths>|\s.*?)(?:\s--\s+(?P<why>.*))?\s*$")

Ask = Callable[[tuple[str, ...], str], Awaitable[None]]


class Scope:
    """The paths of one attempt."""

    def __init__(self, expected: tuple[str, ...], workspace: Path, ask: Ask) -> None:
        self._expected = expected
        self._workspace = workspace
        self._ask = ask
        self._asked = 0
        self._open: set[tuple[str, ...]] = set()
        """Requests without an answer yet: none is made twice."""
        self._granted: set[str] = set()
        self._waiting: dict[str, asyncio.Future[str]] = {}

    def request_in(self, line: str) -> tuple[tuple[str, ...], str] | None:
        """Return the paths and reason of an agent's line: `::interlock scope PATH... -- why`."""
        found = _LINE.match(line[: PATHS_MOST * PATH_CHARS])
        if found is None:
            return None
        try:
            words = shlex.split(found["paths"])
        except ValueError:
            words = found["paths"].split()
        paths = tuple(dict.fromkeys(path for word in words[:PATHS_MOST] if (path := self._inside(word))))
        return (paths, (found["why"] or "").strip()[:WHY_CHARS]) if paths else None

    async def ask(self, paths: tuple[str, ...], why: str) -> None:
        """Pass a request on, unless there were too many."""
        if self._asked < ASKED_MOST and paths not in self._open:
            self._asked += 1
            self._open.add(paths)
            await self._ask(paths, why)

    async def request(self, words: Sequence[str], why: str) -> str:
        """Ask for paths, and wait a moment for the answer; what the agent is told."""
        inside = [path for word in words[:PATHS_MOST] if (path := self._inside(word))]
        paths = tuple(path for path in dict.fromkeys(inside) if not self._is_its_own(path))
        if not paths:
            return "none of these paths needs a request: edit them" if inside else "no path in the workspace"
        if self._asked >= ASKED_MOST:
            return "too many requests; go on without an answer"
        loop = asyncio.get_running_loop()
        waiting = [self._waiting.setdefault(path, loop.create_future()) for path in paths]
        await self.ask(paths, why.strip()[:WHY_CHARS])
        done, _ = await asyncio.wait(waiting, timeout=ANSWER_SECONDS)
        for path in paths:
            self._waiting.pop(path, None)
        if not done:
            return "no answer yet; go on, you are told when there is one"
        return next((told for one in done if (told := one.result())), f"you may edit {', '.join(paths)}")

    async def objection(self, told: Mapping[str, object]) -> str:
        """A program is about to use a tool: why it must not edit that file, or ''."""
        path = self._edited(told)
        if not path or self._is_its_own(path):
            return ""
        if self._asked >= ASKED_MOST:
            return ""
        waiting = self._waiting.get(path)
        if waiting is None:
            waiting = self._waiting[path] = asyncio.get_running_loop().create_future()
            await self.ask((path,), f"{told.get('tool_name')} is about to edit it")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await asyncio.shield(waiting)
        except TimeoutError:
            return ""
        finally:
            self._waiting.pop(path, None)

    def answered(self, paths: tuple[str, ...], granted: bool, why: str) -> bool:
        """Take the answer to a request; True if a tool waited for it."""
        self._open.discard(paths)
        if granted:
            self._granted.update(paths)
        waiting = [self._waiting.pop(path) for path in paths if path in self._waiting]
        for future in waiting:
            if not future.done():
                future.set_result("" if granted else answer_text(paths, granted, why))
        return bool(waiting)

    def _is_its_own(self, path: str) -> bool:
        return path in self._granted or any(matches(glob, path) for glob in self._expected)

    def _edited(self, told: Mapping[str, object]) -> str:
        given = told.get("tool_input")
        if not isinstance(given, dict) or str(told.get("tool_name")) not in EDITING.split("|"):
            return ""
        return self._inside(str(given.get("file_path") or given.get("notebook_path") or ""))

    def _inside(self, word: str) -> str:
        """A path as the repository has it; '' if it is not in the workspace."""
        if not word or len(word) > PATH_CHARS or "\0" in word:
            return ""
        path = PurePosixPath(normpath(word))
        if path.is_absolute():
            if not path.is_relative_to(self._workspace):
                return ""
            path = path.relative_to(self._workspace)
        return "" if path.parts[:1] in ((), ("..",)) else str(path)


def answer_text(paths: tuple[str, ...], granted: bool, why: str) -> str:
    """An answer as an agent is told it."""
    named = ", ".join(paths)
    if granted:
        return f"interlock: you may edit {named}: {why}."
    return f"interlock: leave {named} as it is: {why}. Find another way, or end and say what is missing."
