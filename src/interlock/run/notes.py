"""Notes on a session that is over, written however it ended and if its agent wrote none.

Notes are made once: by the engine that saw the end, or by one that finds later that none did. They come from
what is on disk then, so a session whose engine died has the same notes as one that was watched to its end.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from interlock.model.outcome import Report
from interlock.model.session import Event, EventKind, SessionNotes
from interlock.model.shown import shown
from interlock.model.task import TaskId
from interlock.model.usage import Usage, reconciled
from interlock.proxy import counts_beside
from interlock.run.private_files import open_private

DONE, ASKED = "done", "asked"
LAST_MESSAGES = 5
LAST_LINES = 20
"""Lines kept of a program that prints plain lines only."""
MESSAGE_CHARS = 2_000
FILES_MOST = 200
TAIL_BYTES = 1 << 14
OURS = "# interlock:"
"""The prefix of the lines that we ourselves write into a program's log."""
EVENT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class NotesPage:
    """The notes on one session, as they are kept."""

    task: str
    attempt: int
    reason: str
    """`done`, `asked`, the class of an error, `stopped` or `lost`."""
    summary: str
    """The agent's last message; if it said nothing, the way it ended."""
    session: str = ""
    model: str = ""
    transcript: str = ""
    """Its events, relative to the state folder, as is the log; '' if there are none."""
    log: str = ""
    ended: str = ""
    """Its end, in a line."""
    exit_code: int | None = None
    seconds: float = 0.0
    commit: str = ""
    kept: str = ""
    """The ref of what its workspace held."""
    files: tuple[str, ...] = ()
    """The changed files; if its end was not seen, those that it said it changed."""
    messages: tuple[str, ...] = ()
    """The last things it said, oldest first."""
    usage: Usage | None = None


class Notebook:
    """The notes below a state folder, one page an attempt."""

    def __init__(self, state_dir: Path, clean: Callable[[str], str] = str) -> None:
        self._state_dir = state_dir
        self._clean = clean
        """Takes secrets out of what a program printed."""

    def path(self, task: TaskId, attempt: int) -> Path:
        return self._state_dir / notes_path(task, attempt)

    def look_up(self, task: TaskId, attempt: int) -> SessionNotes | None:
        page = _page_of(self.path(task, attempt))
        return SessionNotes(page.reason, page.summary, notes_path(task, attempt)) if page else None

    def write(self, report: Report, reason: str) -> bool:
        """The page of a session that is over; False if there is one already, or no room for it."""
        path = self.path(report.task, report.attempt)
        if path.exists():
            return False
        page = _page(report, reason, self._state_dir, self._clean)
        beside = path.with_suffix(f".{os.getpid()}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_private(beside, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(page), indent=1) + b"\n")
            os.link(beside, path)  # whole or not at all, and only if no other process was faster
        except OSError:
            return False  # a full disk; the next cleanup of the attempt writes them
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
        return True


def _page_of(path: Path) -> NotesPage | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=NotesPage, strict=False)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return None


def notes_path(task: str, attempt: int) -> str:
    """Relative to the state folder."""
    return f"logs/{task}/{attempt}.notes.json"


def _page(report: Report, reason: str, state_dir: Path, clean: Callable[[str], str]) -> NotesPage:
    log = f"logs/{report.task}/{report.attempt}.log"
    transcript = f"logs/{report.task}/{report.attempt}.events.jsonl"
    heard = _Heard(state_dir / transcript)
    said = tuple(heard.messages) or _last_lines(state_dir / log, clean, plain=heard.has_events)
    return NotesPage(
        task=report.task,
        attempt=report.attempt,
        reason=reason,
        summary=(said[-1] if said else report.text)[:MESSAGE_CHARS],
        session=report.session or heard.session,
        model=heard.model,
        transcript=transcript if (state_dir / transcript).exists() else "",
        log=log if (state_dir / log).exists() else "",
        ended=report.text or reason,
        exit_code=report.exit_code,
        seconds=report.seconds,
        commit=report.commit or "",
        kept=report.archived,
        files=(report.touched or tuple(heard.files))[:FILES_MOST],
        messages=said,
        usage=report.usage or reconciled(heard.usage, _called(state_dir, report.task, report.attempt)),
    )


def spent(state_dir: Path, task: TaskId, attempt: int) -> Usage | None:
    """Return what an attempt has used, from what it left behind: its end may not have been seen."""
    heard = _Heard(state_dir / f"logs/{task}/{attempt}.events.jsonl")
    return reconciled(heard.usage, _called(state_dir, task, attempt))


def used_in_session(state_dir: Path, task: TaskId, attempt: int, session: str) -> Usage:
    """Return what the attempts before this one have used in a session that it goes on with."""
    total = Usage()
    for number in range(1, attempt if session else 1):
        page = _page_of(state_dir / notes_path(task, number))
        if page and page.session == session and page.usage:
            total += page.usage
    return total


class _Call(msgspec.Struct):
    """A line of the record that the model proxy keeps, as far as it is about money."""

    usage: Usage = msgspec.field(default_factory=Usage)
    call: str = ""


def _called(state_dir: Path, task: TaskId, attempt: int) -> Usage | None:
    """The sum of the calls of its model; None: there were none, or none came through the proxy.

    A call that a crash cut off has no entry in the transcript: its last count stands for it.
    """
    transcript = state_dir / f"logs/{task}/{attempt}.model.jsonl"
    ended = list(_calls(transcript))
    under_way = {call.call: call.usage for call in _calls(counts_beside(transcript))}
    for call in ended:
        under_way.pop(call.call, None)
    counted = sum((*(call.usage for call in ended), *under_way.values()), Usage())
    return counted if counted.calls else None


def _calls(path: Path) -> Iterator[_Call]:
    with contextlib.suppress(OSError), path.open("rb") as file:
        for line in file:
            with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):  # cut off by a crash
                yield msgspec.json.decode(line, type=_Call, strict=False)


def _last_lines(log: Path, clean: Callable[[str], str], *, plain: bool) -> tuple[str, ...]:
    """Return the last output of a program that had no events, as one message.

    With `plain`, without the JSON of a program that prints events: that is nothing for people or prompts.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ()
    unwanted = (OURS, "{") if plain else (OURS,)
    lines = [shown(clean(line)) for line in text.splitlines() if not line.startswith(unwanted)]
    last = [line for line in lines if line][-LAST_LINES:]
    return ("\n".join(last),) if last else ()


class _Heard:
    """The contents of a session's file of events. It may be cut off in the middle of a line."""

    def __init__(self, path: Path) -> None:
        self.session = ""
        self.model = ""
        self.usage: Usage | None = None
        self.has_events = False
        self.files: dict[str, None] = {}
        self._messages: deque[str] = deque(maxlen=LAST_MESSAGES)
        with contextlib.suppress(OSError), path.open("rb") as file:
            while line := file.readline(EVENT_BYTES):
                with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
                    self._take(msgspec.json.decode(line, type=Event, strict=False))

    @property
    def messages(self) -> list[str]:
        return [text[:MESSAGE_CHARS] for text in self._messages]

    def _take(self, event: Event) -> None:
        self.has_events = True
        self.session = event.session or self.session
        self.model = event.model or self.model
        self.usage = event.usage or self.usage
        if event.kind is EventKind.MESSAGE and event.text.strip():
            self._messages.append(event.text)
        if event.kind is EventKind.EDIT and event.path and len(self.files) < FILES_MOST:
            self.files[event.path] = None
