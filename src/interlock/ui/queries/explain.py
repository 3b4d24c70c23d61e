"""The explanation of a task: a chain of causes, each line the reason for the one above it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.events import facts as f
from interlock.events.leases import holds_values
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.failure import symptom
from interlock.model.reason import Reason, Why
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.train.refusal import refusal
from interlock.ui.plain import counted
from interlock.ui.queries.attempts import AttemptStory, PhaseStory, in_groups
from interlock.ui.queries.tasks import forecast_of
from interlock.ui.reading import Reading
from interlock.ui.words.checks import REUSED
from interlock.ui.words.evidence import evidence_text
from interlock.ui.words.facts import clock, describe, left_out_lines, resolved_lines
from interlock.ui.words.forecasts import expected_text, kind_text
from interlock.ui.words.radar import beside_text, gave_way_text
from interlock.ui.words.reasons import ReasonObject, as_read, in_words, reason_object, reason_text
from interlock.ui.words.remedies import next_command

DEPTH = 8
WIDTH = 3
"""The depth and width to which the chain is followed: more causes than this explain nothing."""

DEEDS: dict[type[f.Fact], str] = {
    f.TaskRetried: "retried it",
    f.BudgetRaised: "raised its budget",
    f.Bumped: "moved it to the front of the queue",
    f.ReviewApproved: "approved it",
    f.ReviewRejected: "rejected it",
    f.ReviewCommented: "commented on it",
    f.TaskReset: "reset it",
    f.TaskCancelled: "cancelled it",
    f.QuestionAnswered: "answered its question",
    f.Paused: "paused it",
    f.Unpaused: "unpaused it",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """One line of an explanation."""

    depth: int
    task: str
    text: str
    reason: ReasonObject | None = None
    """The reason as data, if the line gives the reason of a task."""
    facts: tuple[int, ...] = ()
    """The facts that say so, by their numbers in the log."""


@dataclass(frozen=True, slots=True)
class ExplainDocument:
    """The document of `interlock explain`."""

    about: str
    causes: list[Cause]


def explain(
    reading: Reading, task: TaskState, history: list[Recorded], stories: list[AttemptStory]
) -> list[Cause]:
    """The chain for one task, from where it stands back to what started it."""
    board = Board(reading.state)
    reason = _reason(reading, board, task)
    return [
        _stand(reading, task, reason, 0),
        *(
            Cause(1, task.spec.id, beside_text(each, task.spec.id))
            for each in reading.state.radar.of(task.spec.id)
        ),
        *_leases(task),
        *_past(reading, task, stories, history),
        *_others(reading, board, task, reason, {task.spec.id}),
        *_expectation(reading, task),
        Cause(0, task.spec.id, f"next: {_root_command(reading, task, reason)}"),
    ]


def _reason(reading: Reading, board: Board, task: TaskState) -> Reason:
    return as_read(reading, task, board.reason(task.spec.id, reading.now))


def _stand(reading: Reading, task: TaskState, reason: Reason, depth: int) -> Cause:
    stands = {Stage.DONE: "", Stage.FAILED: "has failed: "}.get(task.stage, f"is {task.stage.value}: ")
    text = in_words(reading, task, reason)
    return Cause(depth, task.spec.id, f"{task.spec.id} {stands}{text}", reason_object(reason, text))


def _leases(task: TaskState) -> Iterator[Cause]:
    """The values that its programs have to themselves."""
    if holds_values(task):
        held = ", ".join(f"{each.name} ({each.variable}={each.value})" for each in task.session.leased)
        yield Cause(1, task.spec.id, f"holds {held}")


def _past(
    reading: Reading, task: TaskState, stories: list[AttemptStory], history: list[Recorded]
) -> Iterator[Cause]:
    """The task's own history, newest first: that is the order in which one event causes the other."""
    name = task.spec.id
    told = [*_acts_of_people(name, history)[:WIDTH], *_needs_no_review(task, history)]
    told += list(_gave_way(task, history))[-WIDTH:]
    groups = in_groups(stories)
    for group in reversed(groups[-WIDTH:]):
        if len(group) > 1:
            told.append((group[-1].phases[0].started, [Cause(1, name, waited_text(group))]))
            continue
        (story,) = group
        for phase in reversed(story.phases):
            is_red = any(not check.passed for check in phase.checks)
            below = (
                [*_told(story, phase, history), *_landed_meanwhile(reading, story, phase)] if is_red else []
            )
            told.append((phase.started, _phase(name, story.attempt, phase, below)))
    for _, causes in sorted(told, key=lambda pair: pair[0], reverse=True):
        yield from causes
    if len(groups) > WIDTH:
        more = counted(sum(map(len, groups[:-WIDTH])), "attempt")
        yield Cause(1, name, f"and {more} earlier: interlock show {name}")


def waited_text(group: Sequence[AttemptStory]) -> str:
    first, last = group[0].phases[0], group[-1].phases[-1]
    took = lasting((last.ended or last.started) - first.started)
    which = f"attempts {group[0].attempt} to {group[-1].attempt}"
    return f"{clock(first.started)} {which} waited {took} for the model; last: {last.text}"


def _told(story: AttemptStory, phase: PhaseStory, history: list[Recorded]) -> Iterator[str]:
    """The line of the output that names the error, as `interlock errors` shows it."""
    key = (story.attempt, phase.phase, phase.epoch)
    for row in history:
        fact = row.fact
        if isinstance(fact, f.PhaseFailed) and (fact.attempt, fact.phase, fact.epoch) == key:
            line = symptom(fact.error, fact.why, fact.feedback).example
            if line not in phase.text:
                yield f"cause: {line}"
            return


def _landed_meanwhile(reading: Reading, story: AttemptStory, phase: PhaseStory) -> Iterator[str]:
    """The changes that a red check saw and the agent did not."""
    if phase is story.phases[0]:
        return
    began = story.phases[0].started
    others = [
        name
        for name, task in reading.state.tasks.items()
        if task.stage is Stage.DONE and task.change.landed and began < task.since < phase.started
    ]
    if others:
        more = f" and {len(others) - WIDTH} more" if len(others) > WIDTH else ""
        yield f"landed after the agent started: {', '.join(others[:WIDTH])}{more}"


def _phase(name: TaskId, attempt: int, phase: PhaseStory, below: list[str]) -> list[Cause]:
    took = f" in {lasting(phase.ended - phase.started)}" if phase.ended is not None else ""
    what = phase.outcome if phase.outcome == "landed" else f"{phase.phase} {phase.outcome}"
    text = f"{clock(phase.started)} attempt {attempt}: {what}{took}"
    below += [
        f"`{check.command}` {refusal(check)}; output: {check.log or 'not kept'}"
        for check in phase.checks
        if not check.passed
    ]
    below += [
        f"`{check.command}` passed ({REUSED})" for check in phase.checks if check.passed and check.reused
    ]
    if phase.log and not phase.checks and phase.outcome == "failed":
        is_agent = (phase.end_reason or {}).get("code") != Why.CONFLICT
        below.append(
            f"agent output: interlock logs {name} --attempt {attempt}" if is_agent else f"output: {phase.log}"
        )
    below += resolved_lines(phase.resolved)
    below += left_out_lines(phase.left_out, phase.archived)
    if phase.why:
        below.append(f"started because: {phase.why}")
    facts = tuple(filter(None, (phase.began_seq, phase.ended_seq)))
    head = Cause(1, name, f"{text}: {phase.text}" if phase.text else text, facts=facts)
    return [head, *(Cause(2, name, line) for line in below)]


def _needs_no_review(task: TaskState, history: list[Recorded]) -> Iterator[tuple[float, list[Cause]]]:
    """A change that was looked at by the rules of `auto` and landed without a person."""
    passed, opened = None, set[str]()
    for row in history:
        fact = row.fact
        if isinstance(fact, f.CandidatePassed):
            passed = fact
        elif isinstance(fact, f.ReviewOpened):
            opened.add(fact.digest)
        elif isinstance(fact, f.Landed) and passed and passed.digest and passed.digest not in opened:
            text = f"landed without a review: {evidence_text(task.evidence)}, {counted(passed.lines, 'line')}"
            cause = Cause(1, task.spec.id, f"{clock(row.time)} {text} (review: auto)", facts=(row.seq,))
            yield row.time, [cause]


def _acts_of_people(name: TaskId, history: list[Recorded]) -> list[tuple[float, list[Cause]]]:
    said: list[tuple[float, list[Cause]]] = []
    for row in reversed(history):
        fact = row.fact
        if type(fact) in DEEDS:
            why = getattr(fact, "why", "") or getattr(fact, "note", "") or getattr(fact, "text", "")
            why = why or reason_text(getattr(fact, "reason", None))
            text = f"{clock(row.time)} {row.actor} {DEEDS[type(fact)]}{f': {why}' if why else ''}"
            said.append((row.time, [Cause(1, name, text, facts=(row.seq,))]))
    return said


def _gave_way(task: TaskState, history: list[Recorded]) -> Iterator[tuple[float, list[Cause]]]:
    """The moves by which its change of now lost its place in the train."""
    for row in history:
        if isinstance(fact := row.fact, f.GaveWay) and fact.attempt == task.attempt:
            text = f"{clock(row.time)} moved {gave_way_text(fact.other, fact.by)}"
            yield row.time, [Cause(1, task.spec.id, text, facts=(row.seq,))]


def _others(
    reading: Reading, board: Board, task: TaskState, reason: Reason, seen: set[TaskId], depth: int = 1
) -> Iterator[Cause]:
    """The tasks this one waits for, and what these wait for."""
    if task.is_over or depth > DEPTH:
        return
    blocking = [name for name in reason.tasks if name not in seen and name in reading.state.tasks]
    for name in blocking[:WIDTH]:
        seen.add(name)
        other = reading.state.tasks[name]
        cause = _reason(reading, board, other)
        yield _stand(reading, other, cause, depth)
        yield from _others(reading, board, other, cause, seen, depth + 1)
    if len(blocking) > WIDTH:
        yield Cause(
            depth, task.spec.id, f"and {len(blocking) - WIDTH} more: {', '.join(blocking[WIDTH : WIDTH + 8])}"
        )


def _expectation(reading: Reading, task: TaskState) -> Iterator[Cause]:
    """The forecast that the schedule uses, for a task that is not over."""
    if not task.is_over:
        forecast = forecast_of(reading.state, task)
        yield Cause(1, task.spec.id, f"kind of work: {kind_text(forecast)}")
        yield Cause(1, task.spec.id, f"expected per attempt: {expected_text(forecast)}")


def _root_command(reading: Reading, task: TaskState, reason: Reason) -> str:
    """The command to type next: for a task that needs a failed one, the command for that one."""
    if reason.code == Why.NEEDS_FAILED and reason.tasks and reason.tasks[0] in reading.state.tasks:
        return next_command(reading, reading.state.tasks[reason.tasks[0]], reason)
    command = next_command(reading, task, reason)
    return "interlock status -w" if command.startswith("interlock explain") else command


def explain_commit(reading: Reading, found: list[Recorded], commit: str) -> list[Cause]:
    about = next((row.fact for row in reversed(found) if isinstance(row.fact, f.PhaseFact)), None)
    if about is None:
        return []
    task = reading.state.tasks.get(about.task)
    verdict = _fate(task, found, commit) if task else "the task no longer exists"
    head = Cause(0, about.task, f"{commit} was made for {about.task}, attempt {about.attempt}; {verdict}")
    lines = [
        Cause(1, about.task, f"{clock(row.time)} {describe(row.fact)}", facts=(row.seq,)) for row in found
    ]
    return [head, *lines, Cause(0, about.task, f"next: interlock show {about.task}")]


def _fate(task: TaskState, found: list[Recorded], commit: str) -> str:
    if task.change.landed is None:
        return f"the task has not landed, it is {task.stage.value}"
    if task.change.landed.commit.startswith(commit):
        return f"it landed on main: {evidence_text(task.evidence)}"
    merged = [row.fact.commit for row in found if isinstance(row.fact, f.CandidatePassed)]
    if task.change.landed.commit in merged:
        return f"it landed on main as {task.change.landed.commit[:12]}: {evidence_text(task.evidence)}"
    return f"another commit of the task landed: {task.change.landed.commit[:12]}"


def names_commit(row: Recorded, commit: str) -> bool:
    """True if this fact says that the commit was made, tested or landed (not only that it was the base)."""
    fact = row.fact
    named = (getattr(fact, "commit", None), getattr(fact, "work", None))
    return isinstance(fact, f.PhaseFact) and any(value and value.startswith(commit) for value in named)
