"""The trace of a task: spans for the task, each phase of its attempts, and each call of a model.

1. Everything is from facts and from the record of the calls: the same log gives the same spans and ids, so
   that sending them again adds nothing.
2. No prompt, answer or output is in a span: they may go to a server of somebody else.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.model.usage import Usage
from interlock.ui.queries.attempts import AttemptStory, PhaseStory, attempts_of

Value = str | int | float
BAD = ("failed", "lost", "cancelled", "reset", "removed")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model, as the proxy recorded it."""

    at_seconds: float
    """Since the way to the model was open."""
    seconds: float
    model: str = ""
    status: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the work, with its beginning and its end."""

    trace: str
    """32 hexadecimal digits, the same for all spans of a task."""
    id: str
    """16 hexadecimal digits."""
    parent: str
    """The id of the span around it; empty: it is the task's."""
    name: str
    start: float
    end: float
    ok: bool = True
    text: str = ""
    """What went wrong."""
    attributes: Mapping[str, Value] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return max(0.0, self.end - self.start)


def task_spans(
    log: str,
    task: TaskState,
    history: Sequence[Recorded],
    calls: Mapping[int, Sequence[ModelCall]],
    now: float,
) -> list[Span]:
    """The spans of a task, each after the one around it. `log` names the log, `calls` are by attempt."""
    stories = attempts_of(history)
    if not stories or not history:
        return []
    opened = {row.fact.attempt: row for row in history if isinstance(row.fact, f.SessionOpened)}
    phases = [phase for story in stories for phase in story.phases]
    ends = [phase.ended if phase.ended is not None else now for phase in phases]
    root = _span((log, task.spec.id), "", f"task {task.spec.id}", history[0].time, max(ends), _about(task))
    return [root, *(span for story in stories for span in _attempt(root, story, opened, calls, now))]


def _about(task: TaskState) -> dict[str, Value]:
    commit = task.change.landed.commit if task.change.landed else ""
    found = {
        "interlock.task": task.spec.id,
        "interlock.state": task.stage.value,
        "interlock.category": task.spec.category,
        "interlock.commit": commit,
    }
    return {name: value for name, value in found.items() if value}


def _attempt(
    root: Span,
    story: AttemptStory,
    opened: Mapping[int, Recorded],
    calls: Mapping[int, Sequence[ModelCall]],
    now: float,
) -> Iterator[Span]:
    for number, phase in enumerate(story.phases):
        session = opened.get(story.attempt) if number == 0 else None
        fact = session.fact if session and isinstance(session.fact, f.SessionOpened) else None
        span = _phase(root, story.attempt, phase, fact, now)
        yield span
        if session:
            for at, call in enumerate(calls.get(story.attempt, ())):
                yield _call(span, at, call, session.time)


def _phase(root: Span, attempt: int, phase: PhaseStory, session: f.SessionOpened | None, now: float) -> Span:
    found: dict[str, Value] = {
        "interlock.task": root.attributes["interlock.task"],
        "interlock.attempt": attempt,
        "interlock.phase": phase.phase,
        "interlock.outcome": phase.outcome,
        "interlock.fact": phase.ended_seq or phase.began_seq,
    }
    if session:
        found |= {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": session.agent,
            "gen_ai.request.model": session.model,
        }
    end = phase.ended if phase.ended is not None else now
    name = f"{phase.phase} attempt {attempt}"
    key = (root.id, name, str(phase.epoch))
    span = _span(key, root, name, phase.started, end, found | _usage(phase.usage))
    return _failed(span, phase.error or phase.outcome) if phase.outcome in BAD else span


def _call(phase: Span, number: int, call: ModelCall, opened: float) -> Span:
    start = min(opened + call.at_seconds, phase.end)
    found: dict[str, Value] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": call.model}
    if call.status:
        found["http.response.status_code"] = call.status
    name = f"chat {call.model}".strip()
    end = min(start + call.seconds, phase.end)
    span = _span((phase.id, str(number)), phase, name, start, end, found | _usage(call.usage))
    return _failed(span, str(call.status)) if call.status >= 400 else span


def _usage(usage: Usage | None) -> dict[str, Value]:
    if usage is None:
        return {}
    found: dict[str, Value | None] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "interlock.cost_usd": usage.cost_usd,
    }
    return {name: value for name, value in found.items() if value}


def _span(
    key: tuple[str, ...],
    around: "Span | str",
    name: str,
    start: float,
    end: float,
    found: Mapping[str, Value],
) -> Span:
    digest = hashlib.sha256("\0".join(key).encode(errors="replace")).hexdigest()
    trace, parent = (around.trace, around.id) if isinstance(around, Span) else (digest[:32], "")
    kept = {key: value for key, value in found.items() if value != ""}
    return Span(trace, digest[32:48], parent, name, start, max(start, end), attributes=kept)


def _failed(span: Span, text: str) -> Span:
    return replace(span, ok=False, text=text, attributes={**span.attributes, "error.type": text})
