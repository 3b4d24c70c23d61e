"""The work around every session: call the user's hooks, and write notes when it is over.

A session is noted down when it begins, so that the next engine closes one whose engine died: its notes are
written and SessionEnd is told then. Both happen once, because notes are made once.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from interlock.model.outcome import Order, Report
from interlock.model.session import SessionNotes
from interlock.model.task import Commit, TaskId
from interlock.run.hooks import About, Hooks, SessionHooks
from interlock.run.notes import ASKED, DONE, Notebook, notes_path
from interlock.run.private_files import open_private


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that began, as the engine that closes it finds it."""

    agent: str
    use: str
    session: str
    workspace: str
    written: str = ""


class SessionDriver:
    """Looks after the sessions below a state folder."""

    def __init__(self, hooks: Hooks, state_dir: Path, clean: Callable[[str], str]) -> None:
        self._hooks = hooks
        self._state_dir = state_dir
        self._notebook = Notebook(state_dir, clean)

    def greet(self, order: Order, workspace: Path, written: Path) -> SessionHooks:
        begun = Begun(order.agent.name, order.agent.use, order.session, str(workspace), str(written))
        path = self._file(order.task, order.attempt, "session.json")
        with contextlib.suppress(OSError):  # a full disk: the session has worse to come
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_private(path, "wb") as file:
                file.write(msgspec.json.encode(begun))
        return self._session(order.task, order.attempt, begun)

    async def close(self, report: Report, reason: str = "") -> None:
        """Close a session that is over, if one had begun and is not closed yet."""
        begun = self._begun(report.task, report.attempt)
        reason = reason or (report.error.value if report.error else ASKED if report.asks else DONE)
        if begun is None or not self._notebook.write(report, reason):
            return
        told = {"notes_path": str(self._state_dir / notes_path(report.task, report.attempt))}
        await self._session(report.task, report.attempt, begun).end(reason, told)

    async def close_lost(self, task: TaskId, attempt: int, why: str, kept: str) -> None:
        """Close a session whose end was not observed. `kept` is the ref of what it left."""
        begun = self._begun(task, attempt)
        session = begun.session if begun else ""
        report = Report(task, attempt, Commit(""), summary=why, archived=kept, session=session)
        await self.close(report, why)

    def notes(self, task: TaskId, attempt: int) -> SessionNotes | None:
        return self._notebook.look_up(task, attempt)

    def _begun(self, task: TaskId, attempt: int) -> Begun | None:
        try:
            return msgspec.json.decode(self._file(task, attempt, "session.json").read_bytes(), type=Begun)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return None

    def _session(self, task: TaskId, attempt: int, begun: Begun) -> SessionHooks:
        return SessionHooks(
            self._hooks,
            About(
                task=task,
                attempt=attempt,
                use=begun.use,
                session=begun.session,
                workspace=begun.workspace,
                written=begun.written,
                transcript=self._file(task, attempt, "events.jsonl"),
                log=self._file(task, attempt, "hooks.jsonl"),
            ),
        )

    def _file(self, task: TaskId, attempt: int, kind: str) -> Path:
        return self._state_dir / "logs" / task / f"{attempt}.{kind}"
