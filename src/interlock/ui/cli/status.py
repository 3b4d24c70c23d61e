"""`interlock status`: every task, its cause and the next command, once or until Ctrl-C; and the exit code."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from interlock.engine.loading import catch_up
from interlock.engine.slots import slots_of
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.pool import TARGETS, PoolFigures, missed
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.store.protocol import Store
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import STAGE_COLORS, Invocation, note, paint, say, say_json, say_line
from interlock.ui.cli.session import ProjectLog, actor, opened, read, run_async
from interlock.ui.plain import counted, inert, shortened
from interlock.ui.queries.budgets import held_up
from interlock.ui.queries.runs import run_name
from interlock.ui.queries.status import (
    ETA,
    LeaseView,
    alike_failures,
    lease_views,
    obstacles,
    status_document,
)
from interlock.ui.queries.tasks import TaskRow, by_stage, rows
from interlock.ui.reading import LOOK_AGAIN_SECONDS, Reading, look
from interlock.ui.words.checks import red_main_text
from interlock.ui.words.limits import brake_line, delayed_text, sandbox_warning
from interlock.ui.words.radar import radar_line
from interlock.ui.words.red_main import broken_main, mend_command
from interlock.ui.words.sessions import tokens

ALIKE_CHARS = 80
HOLDERS_SHOWN = 8
MANY = 40
"""More rows than this in one state are counted, not listed, unless --all."""


@cli_command("status")
@click.option("-w", "--watch", is_flag=True, help="Update it until Ctrl-C.")
@click.option("--all", "everything", is_flag=True, help="List every task.")
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit 8 while a run is active, 6 if you must answer, 1 if a task did not land, else 0.",
)
def status_command(invocation: Invocation, watch: bool, everything: bool, exit_code: bool) -> int:
    """Show every task with its state, the reason and the next command.

    For example: interlock status --watch
    """
    if watch:
        return run_async(watch_status(invocation))
    reading, first = run_async(_read(invocation))
    show(invocation, reading, everything)
    if not reading.state.index.counts:
        _tell_next(invocation, reading, first)
    return verdict(reading) if exit_code else ExitCode.OK


async def _read(invocation: Invocation) -> tuple[Reading, str]:
    """Read the status, and the first command to type while there is no graph."""
    from interlock.ui.actions.observed import record_lost_landings  # a reader must answer fast

    async with opened(invocation) as project:
        has_graph = Path(project.root / project.settings.graph).exists()
        # Only a checkout has files that `init` could look at.
        first = "" if has_graph else "interlock doctor" if project.is_bare else "interlock init"
        reading = await read(project.store)
        await record_lost_landings(project.store, reading, project.state_dir.parent, actor())
        return reading, first


def _tell_next(invocation: Invocation, reading: Reading, first: str) -> None:
    if not invocation.wants_json():
        command, why = sensible(reading, first)
        note(f"next: {paint(command, 'cyan')}   ({why})")


def show(invocation: Invocation, reading: Reading, everything: bool = False) -> None:
    if invocation.wants_json():
        say_json(status_document(reading))
        return
    if not by_stage(reading.state):
        note("no task graph has been run yet")
        return
    for line in lines(reading, everything):
        say(line)


def lines(reading: Reading, everything: bool = False) -> Iterator[str]:
    board = Board(reading.state)
    yield from heading(reading, board)
    yield from groups(reading, board, everything)


def heading(reading: Reading, board: Board) -> Iterator[str]:
    yield headline(reading)
    if line := pool_line(reading, board):
        yield line
    if reading.is_live and (line := brake_line(reading.state)):
        yield line
    if text := delayed_text(reading.state):
        yield paint(text, "yellow")
    if reading.is_live and (line := radar_line(reading.state)):
        yield paint(line, "yellow")
    if line := leases_line(reading.state):
        yield line
    yield from _alike(reading.state)


def leases_line(state: State) -> str:
    """The leases that are held, and by which tasks; '' if none is."""
    return " | ".join(filter(None, (_lease_text(view) for view in lease_views(state))))


def _lease_text(view: LeaseView) -> str:
    if not view.holders:
        return ""
    shown = [f"{one.task} has {one.value}" for one in view.holders[:HOLDERS_SHOWN]]
    more = [f"{len(view.holders) - len(shown)} more"] if len(view.holders) > len(shown) else []
    return f"lease {view.name}: {len(view.holders)} of {view.count} ({', '.join([*shown, *more])})"


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
        yield paint(f"{stage.value} ({len(names)})", STAGE_COLORS[stage.value])
        yield from table(shown, width)
        if len(shown) < len(names):
            yield f"  ... and {len(names) - len(shown)} more: interlock status --all"


def _alike(state: State) -> Iterator[str]:
    """One line when several tasks fail for the same cause: it is worth one look, not many."""
    if found := alike_failures(state):
        seen, names = found[0]
        others = counted(len(found) - 1, "other failure")
        more = f", {others} in several tasks" if len(found) > 1 else ""
        what = paint(f"{len(names)} tasks have the same failure", "red")
        line = shortened(inert(seen.line), ALIKE_CHARS)
        yield f"{what} ({line}){more}: {paint('interlock errors', 'cyan')}"


def headline(reading: Reading) -> str:
    state, run = reading.state, reading.state.run
    counts = [f"{count} {stage.value}" for stage in Stage if (count := state.index.counts.get(stage))]
    parts = [", ".join(counts)]
    if state.limits.paused:  # early in the line: a narrow terminal cuts its end
        parts.append(f"paused{f': {state.limits.pause_why}' if state.limits.pause_why else ''}")
    if state.main.branch:
        parts.append(
            f"{state.main.branch} at {state.main.commit[:12]}"
            if state.main.commit
            else f"{state.main.branch} is gone"
        )
    if red := red_main_text(state):
        parts.append(paint(red, "yellow"))
    if run and reading.is_live:
        stopping = ", stopping" if run.stopping else ""
        age = lasting(reading.now - run.started)
        parts.append(f"run {run_name(run.run)} for {age}, up to {run.limit} at once{stopping}")
        if to_go := ETA.text(state, reading.now):
            parts.append(to_go)
    else:
        parts.append("no run is active")
    if text := tokens(state.used):
        parts.append(f"used {text}")
    if warning := sandbox_warning(state):
        parts.insert(0, paint(warning, "red"))
    return " | ".join(parts)


def table(members: list[TaskRow], width: int) -> list[str]:
    """Aligned lines; on a terminal each fits into one line, the next command always whole."""
    names = max(len(row.id) for row in members)
    commands = max(len(row.next) for row in members)
    room = width - names - commands - 6 if width else 0
    reasons = min(room, max(len(row.text) for row in members)) if room > 20 else 0
    return [
        f"  {row.id:{names}}  {shortened(row.text, reasons):{reasons or 1}}  {paint(row.next, 'cyan')}"
        for row in members
    ]


def pool_line(reading: Reading, board: Board) -> str:
    """The pool in one line; '' where there is nothing to say. Figures are of the run that goes on, or else of
    the last one."""
    slots, measured = slots_of(reading.state, board, reading.is_live), reading.state.learned.pool
    figures = list(_figures(measured.figures)) if measured and measured.figures.attempts else []
    if not reading.is_live:
        return f"last run: {' | '.join(figures)}" if figures else ""
    run = reading.state.run
    is_of_this_run = measured is not None and run is not None and measured.run == run.run
    now = f"{slots.in_use} of {slots.limit} in use, {counted(slots.queue, 'task')} ready to start"
    return f"slots: {' | '.join([now, *(figures if is_of_this_run else [])])}"


def _figures(figures: PoolFigures) -> Iterator[str]:
    waited = (lasting(figures.waiting_p50_seconds), lasting(figures.waiting_p99_seconds))
    attempts = counted(figures.attempts, "attempt")
    yield f"{attempts}, each after {waited[0]} of waiting for a slot (median), 99 of 100 within {waited[1]}"
    above = missed(figures)
    texts = {
        "idle_share": f"{figures.idle_share:.0%} empty while a task was ready",
        "retry_rate": f"{figures.retry_rate:.0%} retries",
        "conflicts": counted(figures.conflicts, "conflict"),
        "by_hand": f"{counted(figures.by_hand, 'task')} retried by hand",
    }
    yield f"slots used {figures.utilization:.0%} of the time"
    yield ", ".join(_marked(name, text) if name in above else text for name, text in texts.items())


def _marked(name: str, text: str) -> str:
    most = TARGETS[name]
    return paint(f"{text} (target: {f'{most:.0%}' if most else '0'})", "yellow")


def overview(invocation: Invocation) -> int:
    reading, first = run_async(_read(invocation))
    show(invocation, reading)
    _tell_next(invocation, reading, first)
    return ExitCode.OK


def sensible(reading: Reading, first: str) -> tuple[str, str]:
    state = reading.state
    if first and not state.index.counts:
        return first, "there is no task graph yet"
    if reading.is_live:
        return "interlock status -w", "a run is active"
    if not state.index.counts:
        return "interlock plan", "the task graph has not been run yet"
    if state.limits.paused:
        return "interlock unpause", "the project is paused"
    if command := mend_command(state):
        return command, "main is red"
    if failed := [name for name, task in state.tasks.items() if task.stage is Stage.FAILED]:
        return f"interlock explain {failed[0]}", f"{len(failed)} failed"
    if any(task.waits_for_person for task in state.tasks.values()):
        return "interlock inbox", "tasks wait for you"
    is_left = bool(state.index.counts.get(Stage.WAITING) or state.index.running)
    return ("interlock run", "tasks are left") if is_left else ("interlock plan", "everything has landed")


def verdict(reading: Reading) -> ExitCode:
    """The status as an exit code: still running, all landed, a person must answer, or not landed."""
    if reading.is_live:
        return ExitCode.RUNNING
    state = reading.state
    if any(held_up(state, reading.now)):
        return ExitCode.BUDGET
    code = outcome(
        [task for name, task in state.tasks.items() if state.is_selected(name) and not _is_gone(task)]
    )
    if code is ExitCode.FAILED and broken_main(state):  # its checks are no obstacle of their own
        return ExitCode.NEEDS_PERSON if _waits_for_main(state) else ExitCode.FAILED
    return ExitCode.ENVIRONMENT if code is ExitCode.FAILED and obstacles(state) else code


def _is_gone(task: TaskState) -> bool:
    """Tell if nothing is expected of a task: it was removed, or it undid others and was undone."""
    return task.stage is Stage.REMOVED or (task.spec.reverts and task.change.undone is not None)


def _waits_for_main(state: State) -> bool:
    """Tell if no task failed, and the rest waits for main to be green."""
    counts = state.index.counts
    return bool(counts.get(Stage.WAITING)) and not counts.get(Stage.FAILED)


def outcome(wanted: Iterable[TaskState]) -> ExitCode:
    left = [task for task in wanted if task.stage is not Stage.DONE]
    if not left:
        return ExitCode.OK
    needs_person = any(task.waits_for_person for task in left) and not any(task.is_over for task in left)
    return ExitCode.NEEDS_PERSON if needs_person else ExitCode.FAILED


FRAME_SECONDS = 0.25


async def watch_status(invocation: Invocation) -> int:
    """A picture on a terminal, or a document for whatever changes. Ends with Ctrl-C."""
    if not invocation.wants_json() and not sys.stdout.isatty():
        raise UsageError("--watch needs a terminal", "interlock status -w --json, or interlock events -f")
    async with opened(invocation) as project:
        reading = await read(project.store)
        if invocation.wants_json():
            await _documents(project.store, reading)
        else:
            await _picture(project, reading)
    return ExitCode.OK


async def wait_for_next(store: Store, reading: Reading, seconds: float) -> Reading:
    await store.wait(reading.state.seq, seconds)
    await catch_up(store, reading.state)
    return await look(store, reading.state)


async def _documents(store: Store, reading: Reading) -> None:
    seen = -1
    while True:
        if reading.state.seq != seen:
            seen = reading.state.seq
            say_line(status_document(reading))
        reading = await wait_for_next(store, reading, LOOK_AGAIN_SECONDS)


def claim_notes(reading: Reading) -> dict[TaskId, str]:
    claims = {name: reading.claim_on(name) for name in reading.state.index.running}
    return {name: inert(claim.note) for name, claim in claims.items() if claim}


async def _picture(project: ProjectLog, reading: Reading) -> None:
    from rich.console import Group, RenderableType
    from rich.text import Text

    from interlock.ui.at_work import Watcher
    from interlock.ui.cli.live import Screen, running_table

    now, watcher = reading, Watcher(project.state_dir, project.root)

    def draw() -> RenderableType:
        board = Board(now.state)
        if not now.is_live or not now.state.index.running:
            return Text.from_ansi("\n".join(lines(now)), no_wrap=True)
        return Group(
            Text.from_ansi("\n".join((*heading(now, board), "")), no_wrap=True),
            running_table(now.state, now.now, watcher, claim_notes(now)),
            Text.from_ansi("\n".join(groups(now, board, besides=Stage.RUNNING)), no_wrap=True),
        )

    async with Screen(draw).on():
        while True:
            now = await wait_for_next(project.store, now, FRAME_SECONDS)
