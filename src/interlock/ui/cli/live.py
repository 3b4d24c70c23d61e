"""What stays on a terminal while work goes on, redrawn four times a second. The only module with rich."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.durations import lasting
from interlock.model.task import PhaseKind
from interlock.ui.cli.brakes import brake_line
from interlock.ui.cli.output import inert, stdout_color
from interlock.ui.cli.reading import agent_log
from interlock.ui.cli.status import COLORS, ETA, sandbox_warning

FRAME_SECONDS = 0.25
TAIL_BYTES = 2048
HEADER = "# interlock:"
"""How a log begins before the agent has said anything."""


class Screen:
    """A picture at the bottom of the terminal, and lines that stay above it."""

    def __init__(self, draw: Callable[[], RenderableType]) -> None:
        console = Console(file=sys.stdout, no_color=not stdout_color(), highlight=False)
        # Drawn by the event loop and not by rich's own thread: State changes between two awaits only.
        self._live = Live(console=console, get_renderable=draw, auto_refresh=False, transient=True)

    def print(self, text: str, color: str = "") -> None:
        """A line that stays."""
        self._live.console.print(Text(text, style=color), soft_wrap=True)

    @asynccontextmanager
    async def on(self) -> AsyncIterator["Screen"]:
        """Show it while the block runs."""
        with self._live:
            redraw = asyncio.create_task(self._redraw())
            try:
                yield self
            finally:
                redraw.cancel()

    async def _redraw(self) -> None:
        while True:
            self._live.refresh()
            await asyncio.sleep(FRAME_SECONDS)


def run_picture(state: State, now: float, state_dir: Path) -> RenderableType:
    """Running tasks with their age and last line of output, the counts and the lane."""
    return Group(_running(state, now, state_dir), _counts(state, now))


def _running(state: State, now: float, state_dir: Path) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, ratio=1, overflow="ellipsis", style="dim")
    room = max(3, shutil.get_terminal_size().lines - 6)
    names = sorted(state.running, key=lambda name: state.tasks[name].since)
    for name in names[:room]:
        task = state.tasks[name]
        has_agent = task.phase.kind is PhaseKind.AGENT
        output = last_line(state_dir / agent_log(name, task.attempt)) if has_agent else ""
        table.add_row(name, f"{task.phase.name} #{task.attempt} {lasting(now - task.since)}", output)
    if len(names) > room:
        table.add_row("", f"and {len(names) - room} more", "")
    return table


def _counts(state: State, now: float) -> Text:
    line = Text()
    for stage in Stage:
        if count := state.counts.get(stage):
            line.append(f"{count} {stage.value}  ", style=COLORS.get(stage.value, ""))
    lane = [name for name in sorted(state.train, key=state.train.__getitem__) if name not in state.running]
    if lane:
        line.append(f"lane: {', '.join(lane[:4])}{' ...' if len(lane) > 4 else ''}  ")
    if state.run and state.run.ended is None:
        mood = ", stopping" if state.run.stopping else ", paused" if state.paused else ""
        to_go = ETA.text(state, now)
        line.append(
            f"{lasting(now - state.run.started)}, up to {state.run.limit} at once{mood}"
            + (f", {to_go}" if to_go else ""),
            style="dim",
        )
        if brakes := brake_line(state):
            line.append(f"  {brakes}", style="yellow")
        if warning := sandbox_warning(state):
            line.append(f"  {warning}", style="red")
    return line


def last_line(path: Path) -> str:
    """The last line of a file that grows, without reading the rest of it."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            found = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    printed = (line for line in reversed(found) if line.strip() and not line.startswith(HEADER))
    return inert(next(printed, "")).strip()
