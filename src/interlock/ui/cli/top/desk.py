"""The lines and rows that `interlock top` shows, and the actions of its keys.

Nothing here knows the terminal. Texts of agents are made harmless here, before anything shows them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from rich.text import Text

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.task import PhaseKind, TaskId
from interlock.schedule import Board
from interlock.ui.attempt_files import attempt_file, located
from interlock.ui.attempt_ranges import FilePart, read_part
from interlock.ui.cli.live import lane_cells
from interlock.ui.cli.output import STAGE_COLORS, harmless
from interlock.ui.cli.review import change_lines
from interlock.ui.cli.show import diff_line, show_lines
from interlock.ui.cli.status import MANY, claim_notes, heading
from interlock.ui.opening import ProjectLog
from interlock.ui.plain import inert, one_line, shortened
from interlock.ui.queries.agents import AtWork
from interlock.ui.queries.attempts import AttemptStory, attempt_of, attempts_of, change_ends
from interlock.ui.queries.explain import explain
from interlock.ui.queries.inbox import Item, items
from interlock.ui.queries.review import checks_of
from interlock.ui.queries.tasks import by_stage, find, forecast_of, rows
from interlock.ui.reading import Reading, history
from interlock.ui.web.acting import ACTIONS, Acted, act
from interlock.ui.web.project import Served
from interlock.ui.web.scopes import Scope
from interlock.ui.words.facts import with_numbers
from interlock.ui.words.sessions import decode, event_line

DIFF_LINES = 5_000
"""Lines of a diff that are shown; `interlock diff` has them all."""
LOG_BYTES = 64 * 1024
"""The bytes before the end of a log at which the program opens it."""
ITEM_CHARS = 200
BY_NAME = {action.name: action for action in ACTIONS}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table. Rows with the same key are about the same thing."""

    key: str
    task: str
    """Empty: it is about the project."""
    cells: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything on the first screen, at one moment."""

    seq: int
    heading: Text
    inbox: tuple[Row, ...]
    lanes: tuple[Row, ...]
    tasks: tuple[Row, ...]
    items: Mapping[str, Item] = field(default_factory=dict)
    """By the key of its row."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """The change of each task in review, as it is shown: another one is not decided."""


@dataclass(frozen=True, slots=True)
class TaskPages:
    """One task, as `show`, `explain` and `review` or `diff` print it."""

    name: str
    about: Text
    causes: Text
    change: Text
    digest: str
    """The change in review that is shown; empty: none is."""


class Desk:
    """One project, as `interlock top` shows it and acts on it."""

    def __init__(self, served: Served, person: Callable[[], str]) -> None:
        self._served = served
        self._person = person

    @classmethod
    async def load(cls, project: ProjectLog, person: Callable[[], str]) -> "Desk":
        """`person` refuses an agent, and is asked before each decision."""
        return cls(await Served.load(project.root.name, project), person)

    async def look(self) -> Picture:
        reading = await self._served.look()
        state, board = reading.state, Board(reading.state)
        waiting = {f"{item.kind} {item.id}": item for item in items(reading)}
        reviews = [(name, task.in_review) for name, task in state.tasks.items()]
        return Picture(
            seq=state.seq,
            heading=painted("\n".join(heading(reading, board))),
            inbox=tuple(_item_row(key, item, reading.now) for key, item in waiting.items()),
            lanes=tuple(self._lane(reading, name) for name in _in_lanes(reading)),
            tasks=tuple(_task_rows(reading, board)),
            items=waiting,
            digests={name: review.digest for name, review in reviews if review},
        )

    def _lane(self, reading: Reading, name: TaskId) -> Row:
        task = reading.state.tasks[name]
        is_agent = task.phase.kind is PhaseKind.AGENT
        seen = self._served.watcher.look(task) if is_agent else AtWork(claim_notes(reading).get(name, ""))
        cells = lane_cells(task, reading.now, seen, is_wide=True)
        return Row(name, name, tuple(cell if isinstance(cell, Text) else Text(cell) for cell in cells))

    async def pages(self, name: str) -> TaskPages:
        reading = await self._served.look()
        task = find(reading.state, name)
        facts = await history(self._served.log.store, task.spec.id)
        stories = located(attempts_of(facts), self._served.log.state_dir)
        row = rows(reading, [task.spec.id])[0]
        causes = (
            f"{'  ' * cause.depth}{with_numbers(one_line(inert(cause.text)), cause.facts)}"
            for cause in explain(reading, task, facts, stories)
        )
        return TaskPages(
            name=task.spec.id,
            about=painted("\n".join(show_lines(task, row, stories, forecast_of(reading.state, task)))),
            causes=painted("\n".join(causes)),
            change=painted("\n".join(await self._change(reading, task, stories))),
            digest=task.in_review.digest if task.in_review else "",
        )

    async def _change(self, reading: Reading, task: TaskState, stories: list[AttemptStory]) -> list[str]:
        repository = await self._served.repository()
        if review := task.in_review:
            checks = checks_of(await history(self._served.log.store, task.spec.id), review.commit)
            diff = await repository.diff(review.base, review.commit)
            lines = change_lines(reading, task, review, checks, diff)
        else:
            try:
                old, new = change_ends(task, stories, None)
            except UsageError as none_yet:
                return [f"{none_yet}: {none_yet.hint}"]
            lines = map(diff_line, (await repository.diff(old, new)).removesuffix("\n").split("\n"))
        shown = list(islice(lines, DIFF_LINES + 1))
        if len(shown) <= DIFF_LINES:
            return shown
        return [*shown[:-1], f"this is the beginning; all of it: interlock diff {task.spec.id}"]

    async def log(self, name: str, after: tuple[int, int] | None) -> tuple[tuple[int, int], list[str]]:
        """New lines of the log of the newest attempt; and where to go on: the attempt, and the place."""
        reading = await self._served.look()
        task = find(reading.state, name)
        story = attempt_of(task, attempts_of(await history(self._served.log.store, task.spec.id)), None)
        is_begun = after is not None and after[0] == story.attempt
        state_dir, as_events = self._served.log.state_dir, task.who.use != "command"
        usual = attempt_file(task.spec.id, story.attempt, "events.jsonl" if as_events else "log")
        path = state_dir / (usual if as_events else story.log or usual)
        part = read_part(path, state_dir, after[1] if after and is_begun else -LOG_BYTES, LOG_BYTES)
        lines = _events(part) if as_events else inert(part.text).splitlines()
        return (story.attempt, part.next), lines

    async def act(self, name: str, **ask: Any) -> Acted:  # Any: the fields of the action's body
        """Take an action of the API; what was done, with the command that does the same."""
        action = BY_NAME[name]
        if action.scope is Scope.DECIDE:
            self._person()
        return await act(self._served, action, action.takes(**ask))


def _events(part: FilePart) -> list[str]:
    events = (decode(line) for line in part.text.splitlines())
    return [inert(event_line(event)) for event in events if event]


def painted(text: str) -> Text:
    """Lines with our colours, and nothing else that a terminal would obey."""
    return Text.from_ansi("\n".join(map(harmless, text.split("\n"))))


def _item_row(key: str, item: Item, now: float) -> Row:
    style = "red" if item.kind in ("failed", "red-main") else "yellow"
    text = shortened(inert(item.text or item.message), ITEM_CHARS)
    age = lasting(max(0.0, now - item.since))
    return Row(key, item.task, (Text(item.kind, style), Text(item.task or "project"), Text(age), Text(text)))


def _in_lanes(reading: Reading) -> list[TaskId]:
    return sorted(reading.state.index.running, key=lambda name: reading.state.tasks[name].since)


def _task_rows(reading: Reading, board: Board) -> list[Row]:
    """The tasks that do not run, at most so many of each state as `status` lists."""
    members = {stage: names for stage, names in by_stage(reading.state).items() if stage is not Stage.RUNNING}
    found = []
    for each in rows(reading, [name for names in members.values() for name in names[:MANY]], board):
        color = STAGE_COLORS[each.state]
        cells = (Text(each.id, "cyan"), Text(each.state, color), Text(each.next, "cyan"), Text(each.text))
        found.append(Row(each.id, each.id, cells))
    for stage, names in members.items():
        if len(names) > MANY:
            text = f"and {len(names) - MANY} more"
            cells = (Text(""), Text(stage.value), Text("interlock status --all", "cyan"), Text(text))
            found.append(Row(f"more {stage.value}", "", cells))
    return found
