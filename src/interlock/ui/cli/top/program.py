"""The program of `interlock top`: it looks at the project twice a second, and its keys take actions."""

import asyncio
from typing import Any, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches

from interlock.model.errors import InterlockError, UserError
from interlock.ui.cli.top.desk import Desk
from interlock.ui.cli.top.screens import OneTask, Overview, Question, Rows, Target
from interlock.ui.plain import inert

FRAME_SECONDS = 0.5
SHARE = 5
"""A look that takes long may take a fifth of the time: with 10,000 tasks nobody waits for a key."""
YES = {"review": "approve", "permission": "allow", "proposal": "accept", "paused": "unpause"}
"""The action of the key `a` for each kind of item. All other kinds need words."""

STYLE = """
#heading { height: auto; max-height: 6; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
.title { color: $text-muted; padding: 0 1; height: 1; width: 1fr; text-style: bold; }
.part { height: auto; }
#inbox { height: auto; max-height: 8; }
#lanes { height: auto; max-height: 12; }
Rows { scrollbar-size-horizontal: 0; }
#tasks-part { height: 1fr; }
#tasks { height: 1fr; }
TabbedContent { height: 1fr; }
TabPane { padding: 0 1; }
Question { align: center middle; }
Question > Vertical { width: 80%; max-width: 100; height: auto; padding: 1 2; border: round $primary; }
.hint { color: $text-muted; }
"""


class Top(App[None]):
    """Everything that waits, runs and is to come, with a key for each action."""

    CSS = STYLE
    TITLE = "interlock top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", "Approve"),
        Binding("r", "reject", "Reject"),
        Binding("y", "answer", "Answer"),
        Binding("c", "comment", "Comment", show=False),
        Binding("s", "say", "Say"),
        Binding("t", "retry", "Retry"),
        Binding("x", "cancel", "Cancel"),
        Binding("p", "pause", "Pause"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.theme = "ansi-dark"  # the terminal's own colours, light or dark
        self._desk = desk
        self._problem = ""
        self._looking = asyncio.Lock()

    async def on_mount(self) -> None:
        await self.push_screen(Overview())
        self._follow()

    @work
    async def _follow(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            await self._look()
            await asyncio.sleep(max(FRAME_SECONDS, SHARE * (clock() - began)))

    async def _look(self) -> None:
        """Show the project as it is now. If the log cannot be read, what is shown stays."""
        try:
            async with self._looking:  # two looks at a log that grows would show its lines twice
                await self._show()
        except NoMatches:  # the screen was closed meanwhile
            return
        except InterlockError as error:
            if str(error) != self._problem:
                self._tell(error)
            self._problem = str(error)
        else:
            self._problem = ""

    async def _show(self) -> None:
        picture, screen = await self._desk.look(), self.screen
        if isinstance(screen, Overview) and screen.is_mounted:
            screen.show(picture)
        elif isinstance(screen, OneTask) and screen.is_mounted:
            await screen.show(picture)

    def _tell(self, error: InterlockError) -> None:
        hint = f"\n{error.hint}" if isinstance(error, UserError) and error.hint else ""
        self.notify(inert(f"{error}{hint}"), severity="error", timeout=10, markup=False)

    def _target(self) -> Target | None:
        screen = self.screen
        return screen.target() if isinstance(screen, Overview | OneTask) else None

    async def _act(self, name: str, **ask: Any) -> None:  # Any: the fields of the action's body
        try:
            acted = await self._desk.act(name, **ask)
        except InterlockError as error:
            self._tell(error)
        else:
            self.notify(inert(acted.cli), title="done, the same as", markup=False)
        await self._look()

    async def _ask(self, text: str) -> str | None:
        """A line of the person; None: they left it."""
        return await self.push_screen_wait(Question(text))

    async def on_data_table_row_selected(self, event: Rows.RowSelected) -> None:
        """Enter in a table, or a click on its row."""
        event.stop()
        await self._open()

    async def _open(self) -> None:
        """The selected task: its change if it waits for review, else its attempts."""
        target = self._target()
        if target and target.task and isinstance(self.screen, Overview):
            page = "change" if target.digest else "attempts"
            await self.push_screen(OneTask(self._desk, target.task, page))
            await self._look()

    @work
    async def action_accept(self) -> None:
        """Say yes to what waits."""
        target = self._target()
        kind = target.item.kind if target and target.item else ""
        if target is None or target.item is None or kind not in YES:
            self._nothing_for(target, "approve")
        elif kind == "review":
            await self._act("approve", tasks=[target.task], change=target.digest)
        elif kind == "permission":
            await self._act("answer", task=target.task, text="allow")
        elif kind == "proposal":
            await self._act("accept", proposal=target.item.id)
        else:
            await self._act("unpause", task=target.task or None)

    @work
    async def action_reject(self) -> None:
        """Say no to what waits."""
        target = self._target()
        kind = target.item.kind if target and target.item else ""
        if target and target.item and kind == "permission":
            await self._act("answer", task=target.task, text="deny")
        elif target and target.item and kind == "proposal":
            await self._act("accept", proposal=target.item.id, decline=True)
        elif target and kind == "review":
            why = await self._ask(f"Reject the change of {target.task}: what should the next attempt do?")
            if why is not None:
                await self._act("reject", task=target.task, note=why, change=target.digest)
        else:
            self._nothing_for(target, "reject")

    def _nothing_for(self, target: Target | None, verb: str) -> None:
        item = target.item if target else None
        hint = f"next: {item.next[0]}" if item and item.next else "select a change in review"
        self.notify(inert(hint), title=f"nothing to {verb} here", severity="warning", markup=False)

    @work
    async def action_answer(self) -> None:
        target = self._target()
        if target is None or target.item is None or target.item.kind not in ("question", "permission"):
            self._nothing_for(target, "answer")
        elif answer := await self._ask(inert(target.item.message or target.item.text)):
            await self._act("answer", task=target.task, text=answer)

    @work
    async def action_comment(self) -> None:
        target = self._target()
        if target is None or not target.digest:
            self._nothing_for(target, "comment on")
        elif said := await self._ask("FILE:LINE and your comment"):
            place, _, text = said.partition(" ")
            await self._comment(target.task, place, text.strip())

    async def _comment(self, task: str, place: str, text: str) -> None:
        from interlock.ui.actions.review import spot_of

        try:
            spot = spot_of(place)
        except UserError as error:
            self._tell(error)
        else:
            await self._act("comment", task=task, path=spot.path, line=spot.line, text=text)

    @work
    async def action_say(self) -> None:
        if (task := self._task_here()) and (text := await self._ask(f"A message to the agent of {task}")):
            await self._act("say", task=task, text=text)

    @work
    async def action_retry(self) -> None:
        if task := self._task_here():
            why = await self._ask(f"Retry {task}: what should the next attempt know? (may be empty)")
            if why is not None:
                await self._act("retry", tasks=[task], why=why)

    @work
    async def action_cancel(self) -> None:
        if task := self._task_here():
            why = await self._ask(f"Cancel {task}: why? (may be empty)")
            if why is not None:
                await self._act("cancel", tasks=[task], why=why)

    @work
    async def action_pause(self) -> None:
        """Pause the selected task, or let it go on."""
        if (target := self._target()) and target.task:
            verb = "unpause" if target.item and target.item.kind == "paused" else "pause"
            await self._act(verb, task=target.task)

    def _task_here(self) -> str:
        target = self._target()
        return target.task if target else ""
