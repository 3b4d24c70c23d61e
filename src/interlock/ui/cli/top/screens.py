"""The screens of `interlock top`: tables of what waits and runs, one task, and a line to write.

They show what `desk` made. What a key does stands in `program`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Input, Label, RichLog, Static, TabbedContent, TabPane

from interlock.model.errors import UsageError
from interlock.ui.cli.top.desk import Desk, Picture, Row
from interlock.ui.plain import counted
from interlock.ui.queries.inbox import Item

KEPT_LINES = 10_000
"""Lines of a log that stay in the window."""
TABLES = {
    "inbox": ("waits for you", "task", "for", "what"),
    "lanes": ("task", "agent", "phase", "time", "tokens", "cost", "last action"),
    "tasks": ("task", "state", "next command", "reason"),
}
PAGES = ("attempts", "change", "log", "causes")
NOTHING = {"inbox": "nothing waits for you", "lanes": "nothing runs", "tasks": "no other task"}


@dataclass(frozen=True, slots=True)
class Target:
    """The selected row, which a key acts on."""

    task: str
    """Empty: the project."""
    item: Item | None
    """The item there that waits for a person."""
    digest: str
    """The change in review that is shown; empty: none is."""


class Rows(DataTable[Text]):
    """A table whose rows stay selected while they change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open"),
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def __init__(self, name: str) -> None:
        super().__init__(id=name, cursor_type="row", zebra_stripes=False)
        self.shown: tuple[Row, ...] = ()
        self._keys = [self.add_column(label) for label in TABLES[name]]

    def fill(self, rows: Sequence[Row]) -> None:
        """Show these rows. The selection stays on its row, or on its place if the row is gone."""
        before, self.shown = self.shown, tuple(rows)
        if before == self.shown:
            return
        if [row.key for row in before] == [row.key for row in rows]:
            for old, new in zip(before, rows, strict=True):
                self._change(old, new)
            return
        place = self.cursor_row
        chosen = before[place].key if place < len(before) else ""
        self.clear()
        for row in rows:
            self.add_row(*row.cells, key=row.key)
        places = [row.key for row in rows]
        place = places.index(chosen) if chosen in places else min(place, max(0, len(rows) - 1))
        self.move_cursor(row=place, animate=False)

    def _change(self, old: Row, new: Row) -> None:
        for column, was, cell in zip(self._keys, old.cells, new.cells, strict=True):
            if was != cell:
                self.update_cell(new.key, column, cell, update_width=True)

    @property
    def chosen(self) -> Row | None:
        return self.shown[self.cursor_row] if self.cursor_row < len(self.shown) else None


class Overview(Screen[None]):
    """The inbox, the running tasks and all others."""

    def __init__(self) -> None:
        super().__init__()
        self._picture: Picture | None = None
        self._tables = {name: Rows(name) for name in TABLES}

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        for name, table in self._tables.items():
            with Vertical(id=f"{name}-part", classes="part"):
                yield Label(NOTHING[name], id=f"{name}-title", classes="title", markup=False)
                yield table
        yield Footer()

    def show(self, picture: Picture) -> None:
        is_first, self._picture = self._picture is None, picture
        self.query_one("#heading", Static).update(picture.heading)
        found = {"inbox": picture.inbox, "lanes": picture.lanes, "tasks": picture.tasks}
        titles = {
            "inbox": f"{counted(len(picture.inbox), 'item')} in your inbox",
            "lanes": f"{counted(len(picture.lanes), 'task')} running",
            "tasks": "all other tasks",
        }
        for name, rows in found.items():
            self._tables[name].fill(rows)
            self._tables[name].display = bool(rows)
            title = titles[name] if rows else NOTHING[name]
            self.query_one(f"#{name}-title", Label).update(title)
        if is_first or self.focused is None or not self.focused.display:
            self._tables[next((name for name, rows in found.items() if rows), "tasks")].focus()

    def target(self) -> Target | None:
        table = self.focused
        row = table.chosen if isinstance(table, Rows) else None
        if row is None or self._picture is None or not (row.task or row.key in self._picture.items):
            return None
        return target_of(self._picture, row.task, row.key)


def target_of(picture: Picture, task: str, key: str = "") -> Target:
    """Return the item of a row of the inbox, or else the one of a task."""
    item = picture.items.get(key) or next(
        (item for item in picture.items.values() if task and item.task == task), None
    )
    return Target(task, item, picture.digests.get(task, ""))


class OneTask(Screen[None]):
    """One task: what `show`, `review` or `diff`, `logs` and `explain` print."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back"),
        *(Binding(str(at), f"page('{name}')", name.title()) for at, name in enumerate(PAGES, start=1)),
    ]

    def __init__(self, desk: Desk, name: str, page: str) -> None:
        super().__init__()
        self._desk = desk
        self._about = name
        self._first = page
        self._seq = -1
        self._digest = ""
        self._picture: Picture | None = None
        self._log_at: tuple[int, int] | None = None

    def compose(self) -> ComposeResult:
        yield Label(self._about, classes="title", markup=False)
        with TabbedContent(initial=self._first):
            for name in ("attempts", "change"):
                with TabPane(name.title(), id=name), VerticalScroll():
                    yield Static(id=f"{name}-text")
            with TabPane("Log", id="log"):
                yield RichLog(id="log-text", max_lines=KEPT_LINES, wrap=True, markup=False, highlight=False)
            with TabPane("Causes", id="causes"), VerticalScroll():
                yield Static(id="causes-text")
        yield Footer()

    async def show(self, picture: Picture) -> None:
        """Read what changed. The log grows without a fact."""
        self._picture = picture
        if picture.seq != self._seq:
            pages = await self._desk.pages(self._about)
            self._seq, self._digest = picture.seq, pages.digest
            for name, text in (("attempts", pages.about), ("change", pages.change), ("causes", pages.causes)):
                self.query_one(f"#{name}-text", Static).update(text)
        await self._read_log()

    async def _read_log(self) -> None:
        with suppress(UsageError):  # it has not started yet
            at, lines = await self._desk.log(self._about, self._log_at)
            log = self.query_one("#log-text", RichLog)
            if self._log_at and self._log_at[0] != at[0]:
                log.write(Text(f"attempt {at[0]}", "cyan"))
            self._log_at = at
            for line in lines:
                log.write(Text(line))

    def target(self) -> Target | None:
        if self._picture is None:
            return None
        found = target_of(self._picture, self._about)
        return Target(found.task, found.item, self._digest)

    def action_page(self, name: str) -> None:
        self.query_one(TabbedContent).active = name


class Question(ModalScreen[str | None]):
    """One line to write. Escape takes nothing back: nothing was done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave it")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._question = text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(self._question, markup=False)
            yield Input()
            yield Label("Enter does it, Escape leaves it as it is", classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
