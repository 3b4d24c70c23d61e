"""One running attempt as people see it: its last action in words, its tokens and its money so far.

Read from the files of the attempt, which grow: each look reads what is new, so that a picture may be drawn
four times a second.
"""

import json
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from interlock.events.state import TaskState
from interlock.model.activity import Activity
from interlock.model.session import Event
from interlock.model.shown import shown
from interlock.model.usage import Usage, reconciled
from interlock.ui.attempt_files import attempt_file, open_regular
from interlock.ui.queries.agents import AgentRow, AtWork, agent_row
from interlock.ui.reading import Reading
from interlock.ui.words.sessions import decode

READ_BYTES = 4 << 20
"""Bytes of a file that are read at once; the rest is read the next time."""
TAIL_BYTES = 2048
HEADER = "# interlock:"
"""The first line of a log, written before the agent prints anything."""


class _Call(msgspec.Struct):
    """The fields of a recorded call that are needed here."""

    usage: Usage
    model: str | None = None


_CALLS = msgspec.json.Decoder(_Call, strict=False)


class Growing:
    """The whole lines that were added to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def lines(self) -> list[bytes]:
        try:
            with open_regular(self._path) as file:
                file.seek(self._read)
                found = file.read(READ_BYTES)
        except OSError:
            return []
        whole = found.rfind(b"\n") + 1
        if not whole and len(found) == READ_BYTES:
            whole = READ_BYTES  # no line that we write is this long
        self._read += whole
        return found[:whole].splitlines()


class Attempt:
    """The files of one attempt."""

    def __init__(self, state_dir: Path, root: Path, task: str, attempt: int) -> None:
        self._log = state_dir / attempt_file(task, attempt, "log")
        self._events_file = state_dir / attempt_file(task, attempt, "events.jsonl")
        self._events = Growing(self._events_file)
        self._calls = Growing(state_dir / attempt_file(task, attempt, "model.jsonl"))
        self._activity = Activity(str(state_dir / "workspaces" / task / str(attempt) / "tree"), str(root))
        self._model = ""
        """Model as the program reports it."""
        self._called = ""
        """The model of its last call, for programs that do not tell: Codex."""
        self._told: Usage | None = None
        """Usage by the agent program's own count."""
        self._counted: Usage | None = None
        """Usage by the model proxy, which is preferred."""

    def look(self, before: Usage) -> AtWork:
        """The attempt as it is now. `before` is what earlier attempts have used."""
        for line in self._events.lines():
            if event := decode(line):
                self._hear(event)
        for line in self._calls.lines():
            with suppress(msgspec.DecodeError, msgspec.ValidationError):
                call = _CALLS.decode(line)
                self._counted = (self._counted or Usage()) + call.usage
                self._called = call.model or self._called
        words = self._activity.words or last_line(self._log)
        printed = self._printed()
        quiet = None if printed is None else max(0.0, time.time() - printed)
        return AtWork(words, self._model or self._called, before + self._used(), quiet, printed)

    def _hear(self, event: Event) -> None:
        self._activity.hear(event)
        self._model = event.model or self._model
        self._told = event.usage or self._told

    def _used(self) -> Usage:
        return reconciled(self._told, self._counted) or Usage()

    def _printed(self) -> float | None:
        """Return the time of the last output, by the clock of the disk."""
        for path in (self._events_file, self._log):
            with suppress(OSError):
                return path.stat().st_mtime
        return None


class Watcher:
    """The running attempts of a project."""

    def __init__(self, state_dir: Path, root: Path) -> None:
        self._state_dir = state_dir
        self._root = root
        self._attempts: dict[tuple[str, int], Attempt] = {}

    def look(self, task: TaskState) -> AtWork:
        """A task's attempt as it is now."""
        key = (str(task.spec.id), task.attempt)
        if key not in self._attempts:
            # A task has one attempt at a time, so that what is kept does not grow with the run.
            self._attempts = {at: one for at, one in self._attempts.items() if at[0] != key[0]}
            self._attempts[key] = Attempt(self._state_dir, self._root, *key)
        return self._attempts[key].look(task.spent.usage)

    def pid(self, task: TaskState) -> int | None:
        """The process id of its supervisor."""
        path = self._state_dir / f"workspaces/{task.spec.id}/{task.attempt}/supervisor.pid"
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(json.loads(path.read_text())["pid"])
        return None


def agents_at_work(reading: Reading, watcher: Watcher) -> list[AgentRow]:
    """The agents at work, with what their files say."""
    running = [reading.state.tasks[name] for name in sorted(reading.state.index.running)]
    return [
        agent_row(reading, task, watcher.look(task), watcher.pid(task)) for task in running if task.has_agent
    ]


def last_line(path: Path) -> str:
    """The last line of a file that grows, without reading the rest of it."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            found = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    printed = (line for line in reversed(found) if line.strip() and not line.startswith(HEADER))
    return shown(next(printed, ""))


def short_count(tokens: int) -> str:
    """`950`, `12.3k`, `1.2M`."""
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1e3:.1f}k" if tokens < 1_000_000 else f"{tokens / 1e6:.1f}M"


def money(cost_usd: float | None) -> str:
    return "-" if cost_usd is None else f"${cost_usd:.2f}"
