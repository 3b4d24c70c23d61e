"""The live view on a terminal, redrawn four times a second. The only module that uses rich."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.durations import lasting
from interlock.model.task import PhaseKind, TaskId
from interlock.model.usage import Usage
from interlock.ui.at_work import Watcher, money, short_count
from interlock.ui.cli.output import STAGE_COLORS, stdout_color
from interlock.ui.plain import inert
from interlock.ui.queries.agents import AtWork
from interlock.ui.queries.status import ETA
from interlock.ui.words.limits import brake_line, sandbox_warning
from interlock.ui.words.radar import radar_line
from interlock.ui.words.run_lines import Telling

FRAME_SECONDS = 0.25
WIDE_COLUMNS = 120
"""Least width with room for the model and the phase, and for tokens in two parts."""
QUIET_SECONDS = 30.0
"""A silence that is worth a word: a model seldom thinks this long before it acts."""
IMPORTS = "imports the change"
"""The agent has ended, and its phase has not."""
WITHOUT_AGENT = {
    PhaseKind.CHECK: "checks the change",
    PhaseKind.LAND: "lands the change",
}
"""The action in a phase without an agent, unless more is known."""


class Screen:
    """A picture at the bottom of the terminal, and lines that stay above it."""

    def __init__(self, draw: Callable[[], RenderableType]) -> None:
        console = Console(file=sys.stdout, no_color=not stdout_color(), highlight=False)
        # Drawn by the event loop and not by rich's own thread: State changes between two awaits only.
        self._live = Live(console=console, get_renderable=draw, auto_refresh=False, transient=True)

    def print(self, text: str, color: str = "") -> None:
        """A line that stays. What is longer than the terminal is wide breaks between words."""
        self._live.console.print(Text(inert(text), style=color))

    @asynccontextmanager
    async def on(self) -> AsyncIterator["Screen"]:
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


Words = Mapping[TaskId, str]
"""The check that runs for each task while no agent works on it."""


def run_picture(
    state: State, now: float, watcher: Watcher, telling: Telling, checks: Words = MappingProxyType({})
) -> RenderableType:
    """Running tasks with what their agents do, providers that refuse calls, the counts and the lane."""
    waiting = [Text(line, style="yellow", no_wrap=True, overflow="ellipsis") for line in telling.waiting(now)]
    return Group(running_table(state, now, watcher, checks), *waiting, _counts(state, now, telling.refusing))


def running_table(state: State, now: float, watcher: Watcher, checks: Words) -> Table:
    """A line for each running task: agent, time, tokens, money, and the last action in words."""
    size = shutil.get_terminal_size()
    is_wide = size.columns >= WIDE_COLUMNS
    names = sorted(state.index.running, key=lambda name: state.tasks[name].since)
    room = max(3, size.lines - 7)
    table = _columns(is_wide, bool(names))
    for name in names[:room]:
        task = state.tasks[name]
        seen = watcher.look(task) if task.phase.kind is PhaseKind.AGENT else AtWork(checks.get(name, ""))
        table.add_row(*lane_cells(task, now, seen, is_wide))
    if len(names) > room:
        table.add_row(f"and {len(names) - room} more")
    return table


def _columns(is_wide: bool, has_rows: bool) -> Table:
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=has_rows, expand=True, header_style="dim"
    )
    table.add_column("task", no_wrap=True, overflow="ellipsis", style="cyan", max_width=36 if is_wide else 20)
    table.add_column("agent", no_wrap=True, overflow="ellipsis", max_width=40 if is_wide else 14)
    if is_wide:
        table.add_column("phase", no_wrap=True)
    table.add_column("time", no_wrap=True, justify="right")
    table.add_column("tokens", no_wrap=True, justify="right")
    table.add_column("cost", no_wrap=True, justify="right")
    table.add_column("last action", no_wrap=True, ratio=1, overflow="ellipsis")
    return table


def lane_cells(task: TaskState, now: float, seen: AtWork, is_wide: bool) -> list[str | Text]:
    elapsed = lasting(now - task.since)
    if task.phase.kind is not PhaseKind.AGENT:
        words, agent, used = seen.words or WITHOUT_AGENT[task.phase.kind], "", ["", ""]
    else:
        words, agent = seen.words or "starts" if task.has_agent else IMPORTS, task.who.name
        agent += f" #{task.attempt}" if task.attempt > 1 and not is_wide else ""
        model = seen.model or task.who.model
        agent += f" ({model})" if model and is_wide else ""
        used = [_tokens(seen.usage, is_wide), money(seen.usage.cost_usd)]
        if is_wide and seen.quiet_seconds is not None and seen.quiet_seconds >= QUIET_SECONDS:
            words += f" (silent for {lasting(seen.quiet_seconds)})"
    phase = [f"{task.phase.name} #{task.attempt}"] if is_wide else []
    # As Text: what an agent says may hold rich's own markup.
    return [Text(cell) for cell in (task.spec.id, agent, *phase, elapsed, *used, words)]


def _tokens(usage: Usage, is_wide: bool) -> str:
    if not usage.input_tokens and not usage.output_tokens:
        return "-"
    if is_wide:
        return f"{short_count(usage.input_tokens)} in, {short_count(usage.output_tokens)} out"
    return short_count(usage.input_tokens + usage.output_tokens)


def _counts(state: State, now: float, refusing: frozenset[str]) -> Text:
    line = Text()
    for stage in Stage:
        if count := state.index.counts.get(stage):
            line.append(f"{count} {stage.value}  ", style=STAGE_COLORS.get(stage.value, ""))
    train, running = state.index.train, state.index.running
    lane = [name for name in sorted(train, key=train.__getitem__) if name not in running]
    if lane:
        line.append(f"lane: {', '.join(lane[:4])}{' ...' if len(lane) > 4 else ''}  ")
    if state.run and state.run.ended is None:
        mood = ", stopping" if state.run.stopping else ", paused" if state.limits.paused else ""
        to_go = ETA.text(state, now)
        line.append(
            f"{lasting(now - state.run.started)}, up to {state.run.limit} at once{mood}"
            + (f", {to_go}" if to_go else ""),
            style="dim",
        )
        if brakes := brake_line(state, refusing):
            line.append(f"  {brakes}", style="yellow")
        if overlaps := radar_line(state):
            line.append(f"  {overlaps}", style="yellow")
        if warning := sandbox_warning(state):
            line.append(f"  {warning}", style="red")
    return line
