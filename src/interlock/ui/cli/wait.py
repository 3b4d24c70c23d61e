"""`interlock wait`: for scripts that go on when the work is over."""

import asyncio

import click

from interlock.model.durations import seconds_of
from interlock.model.errors import UsageError
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, note, say_json
from interlock.ui.cli.reading import LOOK_AGAIN_SECONDS, Reading, catch_up, look, read
from interlock.ui.cli.rows import rows, verdict
from interlock.ui.cli.session import opened, run_async
from interlock.ui.cli.status import document, headline


@click.command("wait", cls=Command)
@click.option("--timeout", metavar="TIME", help="Give up after this long, as 90s or 10m (exit 8).")
@click.pass_obj
def wait_command(invocation: Invocation, timeout: str | None) -> int:
    """Wait until no run is going on: exit 0 if all landed, 1 if not, 8 if it still runs."""
    reading = run_async(_wait(invocation, _seconds(timeout)))
    if invocation.json:
        say_json(document(reading, rows(reading)))
    else:
        note(headline(reading))
    return verdict(reading)


def _seconds(timeout: str | None) -> float | None:
    try:
        return None if timeout is None else seconds_of(timeout)
    except ValueError:
        raise UsageError(
            f"--timeout is no length of time: {timeout}", "write it like 90s, 5m or 1h30m"
        ) from None


async def _wait(invocation: Invocation, seconds: float | None) -> Reading:
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    async with opened(invocation) as project:
        reading = await read(project.store)
        while reading.is_live:
            left = LOOK_AGAIN_SECONDS if end is None else min(LOOK_AGAIN_SECONDS, end - loop.time())
            if left <= 0:
                break
            if await project.store.wait(reading.state.seq, left):
                await catch_up(project.store, reading.state)
            reading = await look(project.store, reading.state)
    return reading
