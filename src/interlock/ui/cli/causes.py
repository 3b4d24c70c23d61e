"""Why a task is where it is: a chain of causes, each line the reason for the one above it."""

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.model.reason import Reason, Why
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.ui.cli.attempts import AttemptStory, attempts_of
from interlock.ui.cli.facttext import clock
from interlock.ui.cli.output import counted
from interlock.ui.cli.reading import Reading
from interlock.ui.cli.rows import in_words, lasting, next_command

DEPTH = 8
WIDTH = 3
"""How far and how wide the chain is followed: more causes than this explain nothing any more."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One line of an explanation."""

    depth: int
    task: str
    text: str


def explain(reading: Reading, task: TaskState, history: list[Recorded]) -> list[Cause]:
    """The chain for one task, from where it stands back to what started it."""
    board = Board(reading.state)
    reason = _reason(reading, board, task)
    head = Cause(0, task.spec.id, _stand(task, reason))
    stories = attempts_of(history)
    return [
        head,
        *_past(task, stories, history),
        *_others(reading, board, task, reason, {task.spec.id}),
        _after(reading, task, reason),
    ]


def _reason(reading: Reading, board: Board, task: TaskState) -> Reason:
    return in_words(reading, task, board.reason(task.spec.id, reading.now))


def _stand(task: TaskState, reason: Reason) -> str:
    stands = "" if task.stage is Stage.DONE else f"is {task.stage.value}: "
    return f"{task.spec.id} {stands}{reason.text}"


def _past(task: TaskState, stories: list[AttemptStory], history: list[Recorded]) -> Iterator[Cause]:
    """What happened to the task itself, newest first: that is the order in which one causes the other."""
    name = task.spec.id
    for person in _acts_of_people(history)[:WIDTH]:
        yield Cause(1, name, person)
    for story in reversed(stories[-WIDTH:]):
        for phase in reversed(story.phases):
            took = f", after {lasting(phase.ended - phase.started)}" if phase.ended is not None else ""
            text = f"{clock(phase.started)} attempt {story.attempt}: {phase.phase} {phase.outcome}{took}"
            yield Cause(1, name, f"{text}: {phase.text}" if phase.text else text)
            for check in phase.checks:
                if not check.passed:
                    yield Cause(
                        2,
                        name,
                        f"`{check.command}` exited {check.exit_code}; its output: {check.log or 'not kept'}",
                    )
            if phase.why:
                yield Cause(2, name, f"it started because {phase.why}")
    if len(stories) > WIDTH:
        more = counted(len(stories) - WIDTH, "attempt")
        yield Cause(1, name, f"and {more} before; `interlock show {name}` has them all")


def _acts_of_people(history: list[Recorded]) -> list[str]:
    said: list[str] = []
    for row in reversed(history):
        fact = row.fact
        if isinstance(fact, f.TaskRetried | f.TaskReset | f.TaskCancelled | f.Paused | f.Unpaused):
            why = getattr(fact, "why", "") or getattr(fact, "note", "")
            said.append(
                f"{clock(row.time)} {row.actor} said {type(fact).__name__}{f': {why}' if why else ''}"
            )
    return said


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
        yield Cause(depth, name, _stand(other, cause))
        yield from _others(reading, board, other, cause, seen, depth + 1)
    if len(blocking) > WIDTH:
        yield Cause(
            depth, task.spec.id, f"and {len(blocking) - WIDTH} more: {', '.join(blocking[WIDTH : WIDTH + 8])}"
        )


def _after(reading: Reading, task: TaskState, reason: Reason) -> Cause:
    return Cause(0, task.spec.id, f"next: {_root_command(reading, task, reason)}")


def _root_command(reading: Reading, task: TaskState, reason: Reason) -> str:
    """What helps: for a task behind a failed one, the command that helps that one."""
    if reason.why is Why.NEEDS_FAILED and reason.tasks and reason.tasks[0] in reading.state.tasks:
        return next_command(reading, reading.state.tasks[reason.tasks[0]], reason)
    command = next_command(reading, task, reason)
    return "interlock status -w" if command.startswith("interlock explain") else command
