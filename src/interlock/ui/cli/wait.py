"""`interlock wait`: for scripts that go on when the work is over."""

import asyncio

import click

from interlock.engine.loading import catch_up
from interlock.events.finished import recall
from interlock.events.state import State
from interlock.model.task import TaskId
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, say_json
from interlock.ui.cli.session import opened, read, run_async, seconds_option
from interlock.ui.cli.status import headline, outcome, table, verdict
from interlock.ui.queries.status import status_document
from interlock.ui.queries.tasks import find, rows, tasks_document
from interlock.ui.reading import LOOK_AGAIN_SECONDS, Reading, look


@cli_command("wait")
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option("--timeout", metavar="TIME", help="Stop waiting after this time, such as 90s or 10m (exit 8).")
def wait_command(invocation: Invocation, tasks: tuple[str, ...], timeout: str | None) -> int:
    """Wait until no run is active, or until these TASKs are over: landed, failed, cancelled or asking you.

    Exit 0 if all landed, 6 if they wait for your answer, 1 if not, 8 if it still runs.
    For example: interlock wait user-model --timeout 10m
    """
    seconds = None if timeout is None else seconds_option("--timeout", timeout, "90s, 5m or 1h30m")
    reading, names = run_async(_wait(invocation, tasks, seconds))
    if invocation.json:
        say_json(tasks_document(reading, names) if names else status_document(reading))
    elif names:
        for line in table(rows(reading, names), 0):
            note(line)
    else:
        note(headline(reading))
    return _verdict(reading, names) if names else verdict(reading)


def _verdict(reading: Reading, names: list[TaskId]) -> ExitCode:
    recall(reading.state, names)
    tasks = [reading.state.tasks[name] for name in names]
    is_running = reading.is_live and not all(task.is_over or task.waits_for_person for task in tasks)
    return ExitCode.RUNNING if is_running else outcome(tasks)


async def _wait(
    invocation: Invocation, words: tuple[str, ...], seconds: float | None
) -> tuple[Reading, list[TaskId]]:
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    async with opened(invocation) as project:
        reading = await read(project.store)
        names = [find(reading.state, word).spec.id for word in words]
        while reading.is_live and not _are_over(reading.state, names):
            left = LOOK_AGAIN_SECONDS if end is None else min(LOOK_AGAIN_SECONDS, end - loop.time())
            if left <= 0:
                break
            if await project.store.wait(reading.state.seq, left):
                await catch_up(project.store, reading.state)
            reading = await look(project.store, reading.state)
    return reading, names


def _are_over(state: State, names: list[TaskId]) -> bool:
    return bool(names) and all(
        state.is_done(name) or state.tasks[name].is_over or state.tasks[name].waits_for_person
        for name in names
    )
