"""`interlock metrics`: the figures of a project in the text format of Prometheus, once."""

import click

from interlock.model.pool import PoolFigures
from interlock.schedule import Board
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, say_json
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.metrics import exposition
from interlock.ui.queries.pool import pool_object, slots_now
from interlock.ui.reading import Reading


@click.command("metrics", cls=Command)
@click.pass_obj
def metrics_command(invocation: Invocation) -> None:
    """Print the figures of this project in the text format of Prometheus.

    A run serves the same, up to the second, with `interlock run --metrics-port 9464`. From the outside the
    figures of a run are those it wrote down last, at most once a minute and at its end.
    For example: interlock metrics --json
    """
    reading = run_async(_look(invocation))
    board = Board(reading.state)
    if invocation.wants_json():
        say_json(pool_object(reading, board))
        return
    measured = reading.state.pool
    figures = measured.figures if measured else PoolFigures()
    text = exposition(reading.state, slots_now(reading, board), figures, reading.is_live)
    click.echo(inert(text), nl=False)


async def _look(invocation: Invocation) -> Reading:
    async with opened(invocation) as project:
        return await read(project.store)
