"""Notices: facts that a person wants to be told of while away, in one line each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.ui.plain import counted, inert, shortened
from interlock.ui.words.reasons import reason_text
from interlock.ui.words.red_main import found_text

TEXT_CHARS = 300
LINES_MOST = 10


class NoticeKind(StrEnum):
    """What a notice is about."""

    NEEDS_YOU = "needs-you"
    FAILED = "failed"
    RED_MAIN = "red-main"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to be told of."""

    kind: NoticeKind
    text: str
    task: str = ""
    seq: int = 0
    """The fact that it is about."""
    time: float = 0.0


def notice_of(row: Recorded) -> Notice | None:
    fact = row.fact
    match fact:
        case f.QuestionAsked():
            return _notice(row, NoticeKind.NEEDS_YOU, f"{fact.task} asks: {fact.text}")
        case f.PermissionAsked():
            wanted = f"{fact.tool} {fact.text}"
            return _notice(row, NoticeKind.NEEDS_YOU, f"{fact.task} waits for permission: {wanted}")
        case f.ReviewOpened():
            command = f"interlock review {fact.task}"
            return _notice(row, NoticeKind.NEEDS_YOU, f"{fact.task} waits for review: {command}")
        case f.TaskFailed():
            return _notice(row, NoticeKind.FAILED, f"{fact.task} failed: {reason_text(fact.why)}")
        case f.MainJudged() if fact.red:
            return _notice(row, NoticeKind.RED_MAIN, f"main is red: {', '.join(fact.red)} fails")
        case f.CulpritFound():
            return _notice(row, NoticeKind.RED_MAIN, found_text(fact))
        case _:
            return None


def end_notice(state: State) -> Notice:
    """The end of a run."""
    counts = [f"{count} {stage.value}" for stage in Stage if (count := state.index.counts.get(stage))]
    text = f"the run ended: {', '.join(counts) or 'nothing to do'}"
    return Notice(NoticeKind.DONE, text, "", state.seq, state.time)


def _notice(row: Recorded, kind: NoticeKind, text: str) -> Notice:
    task = getattr(row.fact, "task", "")
    return Notice(kind, shortened(inert(text), TEXT_CHARS), task, row.seq, row.time)


def title(notices: Sequence[Notice]) -> str:
    """One line for a message: the notice itself, or how many there are of each kind."""
    if len(notices) == 1:
        return notices[0].text
    counts = Counter(notice.kind for notice in notices)
    return ", ".join(_counted(kind, counts[kind]) for kind in NoticeKind if counts[kind])


def _counted(kind: NoticeKind, many: int) -> str:
    match kind:
        case NoticeKind.NEEDS_YOU:
            return f"{counted(many, 'request')} for you"
        case NoticeKind.FAILED:
            return counted(many, "failed task")
        case NoticeKind.RED_MAIN:
            return "main is red"
        case NoticeKind.DONE:
            return "the run ended"


def body(notices: Sequence[Notice]) -> str:
    """The lines of a message, and how many more there are."""
    lines = [notice.text for notice in notices[:LINES_MOST]]
    more = len(notices) - len(lines)
    return "\n".join([*lines, *([f"and {more} more: interlock inbox"] if more else [])])
