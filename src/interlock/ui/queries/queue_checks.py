"""The checks of a change in the train: those that passed, that run, and that were known from before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.model.evidence import build_checks, change_checks
from interlock.model.outcome import CheckResult
from interlock.model.task import PhaseKind, TaskId

CheckState = Literal["waiting", "running", "ended", "passed", "failed", "known-red", "reused"]


@dataclass(frozen=True, slots=True)
class Begun:
    """Commands of an order of checks that have begun."""

    commands: tuple[str, ...]
    """Each with what it has printed after it, in the order of their starts: all but the last have ended."""
    since: float
    """The time at which the last one started."""


@dataclass(frozen=True, slots=True)
class QueueCheck:
    """One check of a change in the train."""

    command: str
    state: CheckState
    """`ended`: it has run, and is judged with the others. `known-red`: it fails on main as well. `reused`: an
    earlier run on the same files is its result."""
    seconds: float | None
    """How long it took; of a reused one, how long the earlier run took."""
    since: float | None
    """The time at which it started, if it runs."""
    expected_seconds: float | None
    """None: it has never passed yet."""
    inputs: tuple[str, ...]
    """Globs of the files that it sees; none: all files."""
    log: str
    """Its output, in the state folder; of a reused one that of the earlier run."""


def orders(state: State) -> dict[TaskId, str]:
    """Return the names of the orders of checks that are carried out now, by the task whose change it is."""
    found = {
        build.task: build_checks(slot, build.epoch)
        for slot, build in state.builds.running.items()
        if build.task in state.index.train
    }
    return found | {
        name: change_checks(name, task.attempt, task.epoch)
        for name in state.index.train
        if (task := state.tasks[name]).stage is Stage.RUNNING and task.phase.kind is PhaseKind.CHECK
    }


def checks_of(
    state: State, task: TaskState, build: Build | None, begun: Mapping[str, Begun]
) -> tuple[QueueCheck, ...]:
    """Return all checks of a change, in their order."""
    if results := _results(task, build):
        return tuple(_ended(state, task, result) for result in results)
    name = orders(state).get(task.spec.id, "")
    commands = tuple(dict.fromkeys((*task.spec.done_when, *task.spec.verify)))
    return tuple(_under_way(state, task, commands, begun.get(name)))


def _results(task: TaskState, build: Build | None) -> Sequence[CheckResult]:
    if task.phase.kind is PhaseKind.LAND and task.change.candidate:
        return task.change.candidate.results
    return build.results if build and build.passed is not None else ()


def _ended(state: State, task: TaskState, result: CheckResult) -> QueueCheck:
    how: CheckState = "known-red" if result.red_on_base else "failed"
    if result.passed:
        how = "reused" if result.reused else "passed"
    return QueueCheck(
        result.command,
        how,
        result.seconds,
        None,
        _expected(state, result.command),
        tuple(task.spec.inputs_of(result.command)),
        result.log,
    )


def _under_way(
    state: State, task: TaskState, commands: Sequence[str], begun: Begun | None
) -> list[QueueCheck]:
    """One that has not begun, before the last that has, does not run: its result is known."""
    seen = [_begun_as(commands, text) for text in begun.commands] if begun else []
    last = max((commands.index(name) for name in seen if name), default=-1)
    found = []
    for place, command in enumerate(commands):
        how: CheckState = "waiting"
        if place < last:
            how = "ended" if command in seen else "reused"
        elif place == last:
            how = "running"
        since = begun.since if begun and how == "running" else None
        inputs = tuple(task.spec.inputs_of(command))
        found.append(QueueCheck(command, how, None, since, _expected(state, command), inputs, ""))
    return found


def _begun_as(commands: Sequence[str], text: str) -> str:
    """The longest that fits: one command may begin with another."""
    fitting = [command for command in commands if text == command or text.startswith(f"{command}\n")]
    return max(fitting, key=len, default="")


def _expected(state: State, command: str) -> float | None:
    times = state.checks.seconds.get(command)
    return median(times) if times else None
