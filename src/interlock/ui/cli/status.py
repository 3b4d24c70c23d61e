"""`interlock status`: every task, its cause and the next command."""

import shutil
import sys
from collections.abc import Iterator

import click

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.durations import lasting
from interlock.model.failure import Symptom
from interlock.model.sandbox import Sandbox
from interlock.model.task import TaskId
from interlock.model.usage import Usage
from interlock.schedule import Board
from interlock.ui.cli.app import Command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.moved_main import note_lost_landings
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.queries.eta import Eta
from interlock.ui.queries.pool import pool_line, pool_object
from interlock.ui.queries.tasks import Row, by_stage, rows, verdict
from interlock.ui.reading import Reading, read
from interlock.ui.words.checks import red_main_objects, red_main_text
from interlock.ui.words.limits import brake_line, brake_object
from interlock.ui.words.plain import counted, inert
from interlock.ui.words.sessions import tokens

COLORS = {"running": "blue", "failed": "red", "waiting": "yellow", "cancelled": "magenta", "done": "green"}
ALIKE_CHARS = 80
ETA = Eta()
"""One for the whole command: a picture that is drawn four times a second asks it each time."""
MANY = 40
"""More rows than this in one state are counted, not listed, unless --all."""


@click.command("status", cls=Command)
@click.option("-w", "--watch", is_flag=True, help="Keep showing it until Ctrl-C.")
@click.option("--all", "everything", is_flag=True, help="List every task, however many there are.")
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit 8 while a run goes on, 6 if you must answer, 1 if something did not land, else 0.",
)
@click.pass_obj
def status_command(invocation: Invocation, watch: bool, everything: bool, exit_code: bool) -> int:
    """Show every task with its cause and the next command.

    For example: interlock status --watch
    """
    if watch:
        from interlock.ui.cli.watch import watch_status

        return run_async(watch_status(invocation))
    reading, is_bare = run_async(_read(invocation))
    show(invocation, reading, everything)
    if not reading.state.tasks and not invocation.wants_json():
        note(f"next: interlock plan, then interlock run; {_without_graph(is_bare)} if there is no graph yet")
    return verdict(reading) if exit_code else ExitCode.OK


def _without_graph(is_bare: bool) -> str:
    """Only a checkout has files that `init` could look at."""
    return "interlock doctor" if is_bare else "interlock init"


async def _read(invocation: Invocation) -> tuple[Reading, bool]:
    async with opened(invocation) as project:
        reading = await read(project.store)
        await note_lost_landings(project, reading)
        return reading, project.is_bare


def show(invocation: Invocation, reading: Reading, everything: bool = False) -> None:
    """Print the status in the form that was asked for."""
    if invocation.wants_json():
        say_json(document(reading))
        return
    if not by_stage(reading.state):
        note("no task graph was taken in yet")
        return
    for line in lines(reading, everything):
        say(line)


def lines(reading: Reading, everything: bool = False) -> Iterator[str]:
    """The status as people see it."""
    board = Board(reading.state)
    yield from heading(reading, board)
    yield from groups(reading, board, everything)


def heading(reading: Reading, board: Board) -> Iterator[str]:
    """What stands above the tasks."""
    yield headline(reading)
    if line := pool_line(reading, board):
        yield line
    if reading.is_live and (line := brake_line(reading.state)):
        yield line
    yield from _alike(reading.state)


def groups(
    reading: Reading, board: Board, everything: bool = False, besides: Stage | None = None
) -> Iterator[str]:
    """The tasks, each stage under its name; not those that are shown `besides`."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    members = {stage: names for stage, names in by_stage(reading.state).items() if stage is not besides}
    listed = [name for names in members.values() for name in names[: None if everything else MANY]]
    found = rows(reading, listed, board)
    for stage, names in members.items():
        shown = [row for row in found if row.state == stage.value]
        yield ""
        yield paint(f"{stage.value} ({len(names)})", COLORS[stage.value])
        yield from table(shown, width)
        if len(shown) < len(names):
            yield f"  ... and {len(names) - len(shown)} more: interlock status --all"


def _found_alike(state: State) -> list[tuple[Symptom, list[TaskId]]]:
    """Failures that several tasks share. Nothing has failed most of the time: then nothing is loaded."""
    if sum(bool(task.failures) for task in state.tasks.values()) < 2:
        return []
    from interlock.learn.errors import alike

    return alike(state)


def _alike(state: State) -> Iterator[str]:
    """One line when several tasks fail for the same cause: it is worth one look, not many."""
    if found := _found_alike(state):
        seen, names = found[0]
        others = counted(len(found) - 1, "other failure")
        more = f", {others} in several tasks" if len(found) > 1 else ""
        what = paint(f"{len(names)} tasks fail in the same way", "red")
        yield f"{what} ({_fit(inert(seen.line), ALIKE_CHARS)}){more}: {paint('interlock errors', 'cyan')}"


def document(reading: Reading) -> dict[str, object]:
    """The status as programs get it."""
    state, run, board = reading.state, reading.state.run, Board(reading.state)
    return {
        "tasks": rows(reading, board=board),
        "running": len(state.running),
        "counts": {stage.value: state.counts.get(stage, 0) for stage in Stage},
        "paused": state.paused,
        "pool": pool_object(reading, board),
        "clutch": brake_object(state),
        "main": {"branch": state.branch, "commit": state.main or None, "red": red_main_objects(state)},
        "run": None
        if run is None
        else {
            "id": run.run,
            "live": reading.is_live,
            "limit": run.limit,
            "seconds_to_go": ETA.seconds(state, reading.now) if reading.is_live else None,
            "started": run.started,
            "ended": run.ended,
            "ended_why": run.ended_why,
            "stopping": run.stopping,
            "sandbox": run.sandbox or None,
            "selection": None if run.selection is None else sorted(run.selection),
        },
        "usage": used(state),
        "alike": [{"id": seen.id, "what": seen.line, "tasks": names} for seen, names in _found_alike(state)],
        "unknown": state.unknown,
        "position": state.seq,
        "time": reading.now,
    }


def headline(reading: Reading) -> str:
    """One line over everything."""
    state, run = reading.state, reading.state.run
    counts = [f"{state.counts[stage]} {stage.value}" for stage in Stage if state.counts.get(stage)]
    parts = [", ".join(counts)]
    if state.paused:  # early in the line: a narrow terminal cuts its end
        parts.append(f"paused{f': {state.pause_why}' if state.pause_why else ''}")
    if state.branch:
        parts.append(f"{state.branch} at {state.main[:12]}")
    if red := red_main_text(state):
        parts.append(paint(red, "yellow"))
    if run and reading.is_live:
        stopping = ", stopping" if run.stopping else ""
        age = lasting(reading.now - run.started)
        parts.append(f"run {run_name(run.run)} for {age}, up to {run.limit} at once{stopping}")
        if to_go := ETA.text(state, reading.now):
            parts.append(to_go)
    else:
        parts.append("no run is going on")
    if text := tokens(used(state)):
        parts.append(f"used {text}")
    if warning := sandbox_warning(state):
        parts.insert(0, paint(warning, "red"))
    return " | ".join(parts)


def used(state: State) -> Usage:
    """What the attempts of all tasks have used, however they ended."""
    return sum((task.usage for task in state.tasks.values()), Usage())


def sandbox_warning(state: State) -> str:
    """The words that every screen shows if agents of the last run could reach more than they should."""
    kind = state.run.sandbox if state.run else ""
    return {Sandbox.NONE.value: "NO SANDBOX", Sandbox.LANDLOCK.value: "reduced sandbox"}.get(kind, "")


def run_name(run: str) -> str:
    """The end of an incarnation's name is what tells it from all others."""
    return run.rpartition("/")[2]


def table(members: list[Row], width: int) -> list[str]:
    """Aligned lines; on a terminal each fits into one line, the next command always whole."""
    names = max(len(row.id) for row in members)
    commands = max(len(row.next) for row in members)
    room = width - names - commands - 6 if width else 0
    reasons = min(room, max(len(row.reason) for row in members)) if room > 20 else 0
    return [
        f"  {row.id:{names}}  {_fit(row.reason, reasons):{reasons or 1}}  {paint(row.next, 'cyan')}"
        for row in members
    ]


def _fit(text: str, room: int) -> str:
    text = " ".join(text.split())
    return f"{text[: room - 1]}…" if room and len(text) > room else text
