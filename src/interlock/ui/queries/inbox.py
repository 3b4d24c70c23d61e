"""Everything that waits for a person, each item with the commands that let it go on."""

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.radar import MAIN
from interlock.model.reason import Reason, Value, Why
from interlock.ui.queries.review import commands_for
from interlock.ui.reading import Reading, open_permissions, open_proposals
from interlock.ui.words.proposals import proposal_text
from interlock.ui.words.radar import overlap_text
from interlock.ui.words.reasons import reason_text
from interlock.ui.words.red_main import broken_main, broken_text, mend_command, reverting
from interlock.ui.words.remedies import next_command


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a person has to see to."""

    id: str
    """The same as long as it waits: task, attempt, and the call where there are several."""
    kind: str
    """`red-main`, `review`, `question`, `permission`, `pull-request`, `held-up`, `failed`, `proposal`,
    `paused` or `overlap`."""
    task: str
    text: str
    message: str
    """The whole of the agent's last message, for a question."""
    since: float
    next: tuple[str, ...]
    """The commands that let it go on, the most likely first."""


def items(reading: Reading) -> list[Item]:
    # A task that was packed and has come back is the last of State, and stands where it was accepted.
    tasks = sorted(reading.state.tasks.values(), key=lambda task: task.accepted)
    return [
        *_red_main(reading),
        *(item for task in tasks for item in _asked(reading, task)),
        *(_failed(task) for task in tasks if task.stage is Stage.FAILED),
        *(item for task in tasks for item in _proposed(reading, task)),
        *_paused(reading, tasks),
        *_overlaps(reading),
    ]


def _red_main(reading: Reading) -> Iterator[Item]:
    broken, command = broken_main(reading.state), mend_command(reading.state)
    if broken and not reverting(reading.state):
        yield Item("main", "red-main", "", broken_text(reading.state), "", broken.since, (command,))


def _asked(reading: Reading, task: TaskState) -> Iterator[Item]:
    name = task.spec.id
    if asked := task.asks:
        commands = (f'interlock answer {name} "..."', f"interlock cancel {name}")
        ref = f"{name}/{asked.attempt}"
        yield Item(ref, "question", name, asked.text, asked.message, task.since, commands)
    if review := task.in_review:
        text = reason_text(Reason(Why.REVIEW, {"cause": review.why} if review.why else {}))
        yield Item(f"{name}/{task.attempt}", "review", name, text, "", review.since, commands_for(name))
    if opened := task.proposed:
        fields: dict[str, Value] = {"number": opened.number, "url": opened.url, "standing": opened.standing}
        text = reason_text(Reason(Why.PULL_REQUEST, fields))
        yield Item(f"{name}/{task.attempt}", "pull-request", name, text, "", task.since, ("interlock run",))
    if held := task.held_up:
        commands = (next_command(reading, task, held), "interlock run")
        yield Item(f"{name}/{task.attempt}", "held-up", name, reason_text(held), "", task.since, commands)
    for leave in open_permissions(task) if reading.is_live else ():
        text = " ".join((leave.tool, leave.text)).strip()
        ref = f"{name}/{leave.attempt}/{leave.call}"
        commands = (f"interlock answer {name} allow", f"interlock answer {name} deny")
        yield Item(ref, "permission", name, text, "", task.since, commands)


def _proposed(reading: Reading, task: TaskState) -> Iterator[Item]:
    for made in open_proposals(reading.state, task):
        ref = f"{task.spec.id}/{made.id}"
        commands = (f"interlock accept {ref}", f"interlock accept --decline {ref}")
        yield Item(ref, "proposal", task.spec.id, proposal_text(made), "", made.time, commands)


def _failed(task: TaskState) -> Item:
    name = task.spec.id
    commands = (f"interlock explain {name}", f'interlock retry {name} -m "..."')
    return Item(f"{name}/{task.attempt}", "failed", name, reason_text(task.why), "", task.since, commands)


def _paused(reading: Reading, tasks: list[TaskState]) -> Iterator[Item]:
    state = reading.state
    if state.limits.paused:
        yield Item("paused", "paused", "", state.limits.pause_why, "", state.time, ("interlock unpause",))
    for task in tasks:
        if task.queue.paused and not task.is_over:
            command = f"interlock unpause {task.spec.id}"
            yield Item(task.spec.id, "paused", task.spec.id, "", "", task.since, (command,))


def _overlaps(reading: Reading) -> Iterator[Item]:
    """Overlaps that the setting `radar` wants a person to decide about."""
    state = reading.state
    if not reading.is_live or state.run is None or state.run.radar != "ask":
        return
    for each in state.radar.live.values():
        text = overlap_text(each.task, each.other, each.paths, each.count)
        others = [name for name in (each.task, each.other) if name != MAIN]
        commands = (f'interlock say {each.task} "..."', *(f"interlock cancel {name}" for name in others))
        ref = "/".join(map(str, (each.task, each.attempt, each.other or "main")))
        yield Item(ref, "overlap", each.task, text, "", each.since, commands)


@dataclass(frozen=True, slots=True)
class InboxDocument:
    """The document of `interlock inbox`."""

    items: list[Item]
    live: bool
    time: float


def inbox_document(reading: Reading) -> InboxDocument:
    return InboxDocument(items(reading), reading.is_live, reading.now)
