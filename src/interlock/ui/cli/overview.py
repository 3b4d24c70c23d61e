"""`interlock` alone: how things stand, and the next sensible command."""

from pathlib import Path

from interlock.events.lifecycle import Stage
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.cli.status import show
from interlock.ui.reading import Reading


def overview(invocation: Invocation) -> int:
    """The status, and one command."""
    reading, first = run_async(_look(invocation))
    show(invocation, reading)
    if not invocation.wants_json():
        command, why = sensible(reading, first)
        note(f"next: {paint(command, 'cyan')}   ({why})")
    return ExitCode.OK


async def _look(invocation: Invocation) -> tuple[Reading, str]:
    """How things stand, and the command that comes before all others while there is no graph."""
    async with opened(invocation) as project:
        has_graph = Path(project.root / project.settings.graph).exists()
        first = "" if has_graph else "interlock doctor" if project.is_bare else "interlock init"
        return await read(project.store), first


def sensible(reading: Reading, first: str) -> tuple[str, str]:
    """What to type next, and why."""
    state = reading.state
    if first and not state.tasks:
        return first, "there is no task graph yet"
    if reading.is_live:
        return "interlock status -w", "a run is going on"
    if not state.tasks:
        return "interlock plan", "the task graph has not been run yet"
    if state.paused:
        return "interlock unpause", "the project is paused"
    if failed := [name for name, task in state.tasks.items() if task.stage is Stage.FAILED]:
        return f"interlock explain {failed[0]}", f"{len(failed)} failed"
    if state.counts.get(Stage.WAITING) or state.running:
        return "interlock run", "there is work left"
    return "interlock plan", "everything has landed"
