"""The actions of people: the checked facts of each command, and the command line that does the same.

To add one: write its function, and a line in `ACTIONS`.
"""

import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlock.events.state import TaskState
from interlock.model.task import Origin, OriginKind
from interlock.ui.actions.observed import record_lost_landings
from interlock.ui.actions.review import Spot, approve, comment, reject, spot_in_change
from interlock.ui.actions.talk import answer_permissions, answer_question, write_message
from interlock.ui.actions.tasks import add_task, bump, cancel, pause, reset, retry, stop_run, unpause
from interlock.ui.opening import actor
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading
from interlock.ui.web.bodies import (
    Decision,
    Message,
    NewTask,
    OnRun,
    OnTask,
    OnTaskOrAll,
    OnTasks,
    Proposed,
    Rejection,
    Remark,
    Undoing,
)
from interlock.ui.web.project import Served
from interlock.ui.web.scopes import Scope


@dataclass(frozen=True, slots=True)
class Acted:
    """What an action did."""

    cli: str
    """The command line that does the same."""
    tasks: tuple[str, ...]
    """The tasks that it is about."""
    live: bool
    """A run is active, and takes it up."""
    seq: int = 0
    """The last fact of the log after it."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that is asked for."""

    served: Served
    reading: Reading
    ask: Any
    """An instance of `Action.takes`. Any: each action has its own type."""

    def found(self, *names: str) -> list[TaskState]:
        return [find(self.reading.state, name) for name in names]

    def done(self, words: Sequence[str], tasks: Sequence[TaskState] = ()) -> Acted:
        return Acted(
            f"interlock {shlex.join(words)}", tuple(task.spec.id for task in tasks), self.reading.is_live
        )


Do = Callable[[Deed], Awaitable[Acted]]


@dataclass(frozen=True, slots=True)
class Action:
    """An action as a route."""

    name: str
    takes: type
    do: Do
    summary: str
    scope: Scope = Scope.ACT


Changing = Callable[..., Awaitable[None]]


def _on_tasks(words: tuple[str, ...], change: Changing, flag: str = "-m") -> Do:
    """An action on several tasks. Main may have been moved by a person: that is looked up before."""

    async def do(deed: Deed) -> Acted:
        ask, log = deed.ask, deed.served.log
        await record_lost_landings(log.store, deed.reading, log.state_dir.parent, actor())
        tasks = deed.found(*ask.tasks)
        await change(log.store, tasks, ask.why, actor())
        return deed.done((*words, *(task.spec.id for task in tasks), *_option(flag, ask.why)), tasks)

    return do


def _option(flag: str, value: str) -> tuple[str, ...]:
    return (flag, value) if value else ()


def _each(words: tuple[str, ...], change: Callable[[Deed, TaskState], Awaitable[None]]) -> Do:
    async def do(deed: Deed) -> Acted:
        tasks = deed.found(*deed.ask.tasks)
        for task in tasks:
            await change(deed, task)
        return deed.done((*words, *(task.spec.id for task in tasks), *_option("-m", deed.ask.why)), tasks)

    return do


async def _hold(deed: Deed, task: TaskState) -> None:
    await pause(deed.served.log.store, deed.reading, task.spec.id, deed.ask.why, actor())


async def _release(deed: Deed, task: TaskState) -> None:
    await unpause(deed.served.log.store, deed.reading, task.spec.id, actor())


async def _bump(deed: Deed) -> Acted:
    tasks = deed.found(deed.ask.task)
    await bump(deed.served.log.store, deed.reading, tasks[0].spec.id, actor())
    return deed.done(("queue", "bump", tasks[0].spec.id), tasks)


async def _pause(deed: Deed) -> Acted:
    tasks = deed.found(*filter(None, [deed.ask.task]))
    name = tasks[0].spec.id if tasks else None
    await pause(deed.served.log.store, deed.reading, name, deed.ask.why, actor())
    return deed.done(("pause", *filter(None, [name]), *_option("-m", deed.ask.why)), tasks)


async def _unpause(deed: Deed) -> Acted:
    tasks = deed.found(*filter(None, [deed.ask.task]))
    name = tasks[0].spec.id if tasks else None
    await unpause(deed.served.log.store, deed.reading, name, actor())
    return deed.done(("unpause", *filter(None, [name])), tasks)


async def _stop(deed: Deed) -> Acted:
    await stop_run(deed.served.log.store, deed.reading, deed.ask.why, actor())
    return deed.done(("cancel", "--all", *_option("-m", deed.ask.why)))


async def _say(deed: Deed) -> Acted:
    tasks = deed.found(deed.ask.task)
    await write_message(deed.served.log.store, tasks[0], deed.ask.text, actor())
    return deed.done(("say", tasks[0].spec.id, deed.ask.text), tasks)


async def _answer(deed: Deed) -> Acted:
    (task,) = tasks = deed.found(deed.ask.task)
    if task.asks:
        await answer_question(deed.served.log.store, task, deed.ask.text, actor())
    else:
        await answer_permissions(deed.served.log.store, deed.reading, task, deed.ask.text, actor())
    return deed.done(("answer", task.spec.id, deed.ask.text), tasks)


async def _approve(deed: Deed) -> Acted:
    ask, tasks = deed.ask, deed.found(*deed.ask.tasks)
    await approve(deed.served.log.store, deed.reading, tasks, ask.note, actor(), ask.change)
    return deed.done(("approve", *_decided(ask, tasks)), tasks)


async def _reject(deed: Deed) -> Acted:
    ask, (task,) = deed.ask, deed.found(deed.ask.task)
    await reject(deed.served.log.store, deed.reading, task, ask.note, actor(), ask.change)
    return deed.done(("reject", *_decided(ask, [task])), [task])


def _decided(ask: Decision | Rejection, tasks: Sequence[TaskState]) -> list[str]:
    names = [str(task.spec.id) for task in tasks]
    return [*names, *_option("-m", ask.note), *_option("--change", ask.change)]


async def _comment(deed: Deed) -> Acted:
    ask, (task,) = deed.ask, deed.found(deed.ask.task)
    async with deed.served.for_reading() as project:
        spot = await spot_in_change(project.screening, task, Spot(ask.path, ask.line))
    await comment(deed.served.log.store, deed.reading, task, spot, ask.text, actor())
    place = f"{ask.path}:{ask.line}" if ask.line else ask.path
    return deed.done(("comment", task.spec.id, place, ask.text), [task])


async def _add(deed: Deed) -> Acted:
    from interlock.plan.added import Wish

    ask = deed.ask
    more = (tuple(ask.needs), tuple(ask.touches), tuple(ask.done_when))
    wish = Wish(ask.id, ask.goal, *more, ask.agent, ask.parent)
    origin = Origin(OriginKind.PERSON, actor())
    async with deed.served.for_work() as project:
        from interlock.engine.loading import load_state

        task = await add_task(project, await load_state(project.store), wish, origin, actor())
    options = [
        *(word for need in ask.needs for word in ("--needs", need)),
        *(word for glob in ask.touches for word in ("--touches", glob)),
        *(word for command in ask.done_when for word in ("--done-when", command)),
        *_option("--agent", ask.agent),
        *_option("--parent", ask.parent),
    ]
    return replace(deed.done(("add", ask.id, ask.goal, *options)), tasks=(task.id,))


async def _undo(deed: Deed) -> Acted:
    from interlock.engine.loading import load_state
    from interlock.ui.actions.undo import undo, undo_plan

    ask = deed.ask
    async with deed.served.for_work() as project:
        state = await load_state(project.store)
        plan, main = await undo_plan(project, state, ask.targets, include_later=ask.include_later)
        name = await undo(project, state, plan, main, actor())
    words = ("undo", *ask.targets, *(["--include-later"] if ask.include_later else []), "--yes")
    return replace(deed.done(words), tasks=(name,))


async def _accept(deed: Deed) -> Acted:
    from interlock.engine.loading import load_state
    from interlock.ui.actions.proposals import accept_proposal, decline_proposal, find_proposal

    async with deed.served.for_work() as project:
        state = await load_state(project.store)
        parent, made = find_proposal(state, deed.ask.proposal)
        if deed.ask.decline:
            await decline_proposal(project.store, parent, made, actor())
        else:
            await accept_proposal(project, state, parent, made, actor())
    words = ("accept", *(["--decline"] if deed.ask.decline else []), deed.ask.proposal)
    return replace(deed.done(words), tasks=() if deed.ask.decline else (made.id,))


ACTIONS: tuple[Action, ...] = (
    Action("retry", OnTasks, _on_tasks(("retry",), retry), "Give failed or cancelled tasks new attempts."),
    Action("reset", OnTasks, _on_tasks(("reset",), reset), "Release stuck tasks and start them again."),
    Action("cancel", OnTasks, _on_tasks(("cancel",), cancel), "Stop tasks; their work is kept."),
    Action("stop", OnRun, _stop, "Stop the whole run and its agents; their work is kept."),
    Action("pause", OnTaskOrAll, _pause, "Pause the project, or one task."),
    Action("unpause", OnTaskOrAll, _unpause, "Unpause the project, or one task."),
    Action("say", Message, _say, "Send a message to the agent of a task."),
    Action("answer", Message, _answer, "Answer a question, or a request for permission.", scope=Scope.DECIDE),
    Action("accept", Proposed, _accept, "Accept or decline a proposed task.", scope=Scope.DECIDE),
    Action("approve", Decision, _approve, "Approve changes: they may land.", scope=Scope.DECIDE),
    Action("reject", Rejection, _reject, "Send a change back to its agent.", scope=Scope.DECIDE),
    Action("comment", Remark, _comment, "Comment on a change in review.", scope=Scope.DECIDE),
    Action("add", NewTask, _add, "Add a task beside the graph file."),
    Action("hold", OnTasks, _each(("queue", "hold"), _hold), "Keep changes of tasks from landing."),
    Action("release", OnTasks, _each(("queue", "release"), _release), "Let held changes go on to main."),
    Action("drop", OnTasks, _on_tasks(("queue", "drop"), cancel), "Cancel tasks whose changes wait to land."),
    Action("bump", OnTask, _bump, "Move the change of a task to the front of the queue."),
    Action("undo", Undoing, _undo, "Undo landed tasks or commits of main, through the checks."),
)


async def act(served: Served, action: Action, ask: object) -> Acted:
    """Do it on the project as it is now; what was done."""
    async with served.acting() as reading:
        acted = await action.do(Deed(served, reading, ask))
    return replace(acted, seq=served.state.seq)
