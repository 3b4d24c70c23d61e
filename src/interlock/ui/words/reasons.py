"""Reasons in words, with what only a reader knows: the time, the claims, and if a run is alive."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Annotated

from msgspec import Meta

from interlock.events.asked import Permission
from interlock.events.baselines import obstacle
from interlock.events.facts import PhaseStarted
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.reason import MISSING, NOT_SELECTED, Reason, Value, Why
from interlock.model.task import PhaseKind
from interlock.ui.plain import counted, inert, listed, one_line
from interlock.ui.reading import Reading, open_permissions
from interlock.ui.words.brakes import BRAKES
from interlock.ui.words.causes import CAUSES, Words
from interlock.ui.words.checks import main_text
from interlock.ui.words.evidence import landed_text

NEEDS_A_RUN = (
    Why.READY,
    Why.SLOTS,
    Why.ROLE_SLOTS,
    Why.CLUTCH,
    Why.PROVIDER_CLOSED,
    Why.LANE,
    Why.BUILDS,
    Why.BUILT,
    Why.LOOKED_UP,
    Why.LEASE,
    Why.KEPT_FREE,
    Why.HELD_ALONE,
    Why.OVERLAP,
    Why.BACKOFF,
    Why.MAIN_UNTRIED,
    Why.STOPPING,
    Why.NO_RUN,
)
"""Reasons that mean nothing once the loop is gone."""

QUIET_SECONDS = 30.0
"""A loop that is well renews its claims three times as often."""
NAMES_SHOWN = 4
QUESTION_CHARS = 200
DEPTH = 8
"""A log may hold reasons behind reasons without end."""
_SHAPE = {
    "properties": {"code": {"type": "string"}, "text": {"type": "string"}},
    "required": ["code", "text"],
}
ReasonObject = Annotated[dict[str, object], Meta(extra_json_schema=_SHAPE)]
"""A reason for programs: its code and fields, and its sentence in `text`."""


def as_read(reading: Reading, task: TaskState, reason: Reason) -> Reason:
    """Return the reason with the reader's knowledge: the claims, and if a run is alive."""
    if task.stage is Stage.RUNNING:
        return Reason(Why.RUNNING, {**reason.fields, **_running_now(reading, task)})
    if task.stage is Stage.DONE and task.change.landed:
        return Reason(Why.DONE, {**reason.fields, "commit": task.change.landed.commit})
    if not reading.is_live and reason.code in NEEDS_A_RUN:
        return Reason(Why.NO_RUN)
    return reason


def _running_now(reading: Reading, task: TaskState) -> dict[str, Value]:
    said: dict[str, Value] = {"agent": task.who.name} if task.phase.kind is PhaseKind.AGENT else {}
    claim = reading.claim_on(task.spec.id)
    if not reading.is_live:
        said["run_ended"] = True
    elif asked := open_permissions(task):
        said["permission"] = in_short(asked)
    elif claim and claim.renewed_seconds_ago > QUIET_SECONDS:
        said["silent_seconds"] = claim.renewed_seconds_ago
    elif claim and claim.note:
        said["doing"] = claim.note
    return said


def in_words(reading: Reading, task: TaskState, reason: Reason) -> str:
    """The sentence for the reason of a task. Two of them need more than the reason holds."""
    if reason.code == Why.CHECK and (check := obstacle(reading.state, task)):
        return f"`{one_line(check.command)}` {main_text(check)}"
    if reason.code == Why.DONE and task.change.landed:
        how = landed_text(task.change.landed.commit[:12], task.change.landed.evidence)
        return f"{how} ({counted(task.attempt, 'attempt')})"
    return reason_text(reason)


def reason_text(reason: Reason | None, depth: int = 1) -> str:
    """The sentence for a reason; '' if there is none."""
    if reason is None or depth > DEPTH:
        return ""
    because = reason_text(reason.cause, depth + 1)
    words = WORDS.get(reason.code, _unknown)
    return one_line(inert(words(reason, because)))


def in_brief(reason: Reason | None) -> str:
    return reason_text(replace(reason, fields={**reason.fields, "cause": ""})) if reason else ""


def start_text(fact: PhaseStarted) -> str:
    """The reason for a start and for its agent. The sentence of an older version has both."""
    why = reason_text(fact.why)
    is_whole = fact.agent_why is None or (fact.why and fact.why.code == Why.SAID)
    return why if is_whole else f"{why}; given to {fact.agent}: {reason_text(fact.agent_why)}"


def reason_object(reason: Reason, text: str = "", depth: int = 1) -> ReasonObject:
    """The reason for programs: its code and fields, and its sentence in `text`. Words of others that it
    quotes, its own field `text`, are in `said`."""
    found: dict[str, object] = {"code": reason.code}
    for name, value in reason.fields.items():
        if not isinstance(value, Reason):
            found["said" if name == "text" and reason.code != Why.SAID else name] = value
        elif depth < DEPTH:
            found[name] = reason_object(value, depth=depth + 1)
    return {**found, "text": text or reason_text(reason)}


def with_reasons(value: object) -> object:
    """A document for programs, with its reasons as objects that have their sentence."""
    if isinstance(value, Reason):
        return reason_object(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: with_reasons(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {name: with_reasons(each) for name, each in value.items()}
    return [with_reasons(each) for each in value] if isinstance(value, (tuple, list)) else value


def in_short(asked: list[Permission]) -> str:
    first = one_line(inert(" ".join((asked[0].tool, asked[0].text)).strip()))
    return f"{first} (and {len(asked) - 1} more)" if len(asked) > 1 else first


def _unknown(reason: Reason, because: str) -> str:
    """A code of a newer version, with its plain fields."""
    plain = ", ".join(f"{name}={reason.text(name)}" for name in reason.fields if reason.text(name))
    return f"{reason.code}{f' ({plain})' if plain else ''}{_after(because)}"


def _running(reason: Reason, _: str) -> str:
    by = f" by {reason.text('agent')}" if reason.text("agent") else ""
    lasts = lasting(reason.number("seconds"))
    text = f"{reason.text('phase')}{by}, attempt {reason.text('attempt')}, for {lasts}"
    if "run_ended" in reason.fields:
        return f"{text}; its run ended, the next run continues it"
    if asked := reason.text("permission"):
        return f"{text}; waits for permission: {asked}"
    if silent := reason.number("silent_seconds"):
        return f"{text}; no heartbeat for {lasting(silent)}"
    return f"{text}{_after(reason.text('doing'))}"


def _answer(reason: Reason, _: str) -> str:
    text = " ".join(reason.text("question").split())
    return f"asks: {f'{text[:QUESTION_CHARS]}…' if len(text) > QUESTION_CHARS else text}"


def _needs(reason: Reason, _: str) -> str:
    needs = zip(reason.tasks, reason.names("states"), strict=False)
    return f"waits for {_names(f'{need} ({state})' for need, state in needs)}"


def _needs_failed(reason: Reason, because: str) -> str:
    fate = reason.text("fate")
    texts = {
        MISSING: "there is no such task",
        NOT_SELECTED: "it is not part of this run",
        "failed": f"it failed ({because})",
    }
    through = "" if reason.fields.get("direct") else " (required by its needs)"
    return f"blocked by {_names(reason.tasks)}{through}: {texts.get(fate, f'it was {fate}')}"


def _check(reason: Reason, _: str) -> str:
    how = "cannot run" if reason.text("unable") else "fails"
    return f"`{reason.text('command')}` {how} on main, so nothing of it could land"


def _since(commit: str) -> str:
    return f" since {commit[:12]}" if commit else ""


def _slots(reason: Reason, _: str) -> str:
    if not reason.tasks:
        return "no slots are allowed now"
    return f"{_all(reason, '')}, by {_names(reason.tasks)}"


def _role_slots(reason: Reason, _: str) -> str:
    full = _all(reason, f" for a {reason.text('role')}")
    return f"{full}, by {', '.join(reason.tasks[:NAMES_SHOWN])}"


def _all(reason: Reason, of: str) -> str:
    limit = reason.number("limit")
    return f"the one slot{of} is taken" if limit == 1 else f"all {limit} slots{of} are taken"


def _closed(reason: Reason, because: str) -> str:
    names = reason.names("providers")
    return f"{' and '.join(names)} {'takes' if len(names) == 1 else 'take'} nothing for now: {because}"


def _clutch(reason: Reason, because: str) -> str:
    agents = len(reason.tasks)
    at_work = f"{agents} agents work" if agents != 1 else "one agent works"
    category = reason.text("category")
    of = f"on {category}" if category else f"with a model of {reason.text('provider')}"
    return f"{at_work} {of}, which is what the clutch allows now ({reason.text('brake')}: {because})"


def _lane(reason: Reason, _: str) -> str:
    place = int(reason.number("place"))
    if place <= 1:
        return f"first in the lane to main; {reason.text('phase')} is next"
    nearest = [*reversed(reason.tasks)]
    more = place - 1 - len(nearest)
    rest = f" and {more} more" if more > 0 else ""
    return f"place {place} in the lane to main, behind {', '.join(nearest)}{rest}"


def _on_top(reason: Reason) -> str:
    return f"on top of {_names(reason.tasks)} (queued)" if reason.tasks else "on top of main"


def _first(reason: Reason) -> str:
    return reason.tasks[0] if reason.tasks else ""


def _last(reason: Reason) -> str:
    return reason.tasks[-1] if reason.tasks else ""


def _after(because: str) -> str:
    return f": {because}" if because else ""


def _names(names: Iterable[str]) -> str:
    return listed(list(names), NAMES_SHOWN)


WORDS: dict[str, Words] = {
    Why.SAID: lambda reason, _: reason.text("text"),
    Why.ANSWER: _answer,
    Why.NEEDS: _needs,
    Why.NEEDS_FAILED: _needs_failed,
    Why.NEED_LEAVES: lambda reason, _: f"needs {_first(reason)}, which {_last(reason)} undoes",
    Why.PAUSED: lambda _, __: "a person paused this task",
    Why.HELD_BACK: lambda reason, because: (
        f"held back: {because}; `interlock unpause {reason.text('task')}` tries again"
    ),
    Why.ALL_PAUSED: lambda _, because: f"a person paused all new starts{_after(because)}",
    Why.NOT_SELECTED: lambda _, __: "it is not among the tasks that this run was told to do",
    Why.MAIN_RED: lambda reason, _: (
        f"waits until main is green: `{reason.text('command')}` fails there{_since(reason.text('commit'))}"
    ),
    Why.MAIN_UNTRIED: lambda reason, _: (
        f"another hand moved main to {reason.text('commit')[:12]}; the checks run there first"
    ),
    Why.CHECK: _check,
    Why.BACKOFF: lambda reason, because: (
        f"tries again in {lasting(reason.number('seconds'))}{_after(because)}"
    ),
    Why.SLOTS: _slots,
    Why.ROLE_SLOTS: _role_slots,
    Why.CLUTCH: _clutch,
    Why.PROVIDER_CLOSED: _closed,
    Why.LEASE: lambda reason, _: (
        f"wants {reason.text('lease')} ({reason.text('kind')}), held by {_names(reason.tasks)}"
    ),
    Why.KEPT_FREE: lambda reason, _: (
        f"wants {reason.text('lease')} ({reason.text('kind')}), "
        f"kept free for the first in order, {_names(reason.tasks)}"
    ),
    Why.HELD_ALONE: lambda reason, _: (
        f"edited {reason.text('path')}, and {_first(reason)} holds {reason.text('glob')} alone; "
        "it lands after that"
    ),
    Why.OVERLAP: lambda reason, _: (
        f"would edit {reason.text('path')} together with {_names(reason.tasks)}; "
        "waiting costs less than redoing it"
    ),
    Why.LANE: _lane,
    Why.BUILDS: lambda reason, _: f"its checks run early, {_on_top(reason)}",
    Why.BUILT: lambda reason, _: f"its checks passed, {_on_top(reason)}; it waits for its turn",
    Why.LOOKED_UP: lambda _, __: "its tested change may be on main already; that is being looked up",
    Why.STOPPING: lambda _, __: "the run is stopping and starts nothing new",
    Why.NO_RUN: lambda _, __: "no run is active",
    Why.READY: lambda _, __: "ready",
    Why.RUNNING: _running,
    Why.DONE: lambda _, because: f"done{_after(because)}",
    Why.FAILED: lambda reason, because: f"{because} ({counted(int(reason.number('attempts')), 'attempt')})",
    Why.CANCELLED: lambda _, because: because or "cancelled",
    Why.REMOVED: lambda _, because: f"removed{_after(because)}",
    Why.GIVEN_UP: lambda _, __: "it failed or was cancelled; `interlock retry TASK` starts it again",
    Why.CYCLE: lambda _, __: "its needs form a cycle",
    Why.NEED_MISSING: lambda reason, _: f"needs {_first(reason)}, which is not in the graph",
    Why.NEED_GIVEN_UP: lambda reason, _: f"needs {_first(reason)}, which failed or was cancelled",
    Why.NEED_NOT_SELECTED: lambda reason, _: (
        f"needs {_first(reason)}, which is not selected and has not landed"
    ),
    Why.NEED_BLOCKED: lambda reason, because: f"blocked: needs {_first(reason)}, which cannot run: {because}",
    **CAUSES,
    **BRAKES,
}
