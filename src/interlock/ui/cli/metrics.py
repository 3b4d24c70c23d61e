"""`interlock metrics`: the figures of a project for Prometheus, printed once or served by a run."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from interlock.model.errors import EnvironmentProblem
from interlock.model.pool import PoolFigures
from interlock.schedule import Board
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, say_json
from interlock.ui.cli.session import read_project
from interlock.ui.plain import inert
from interlock.ui.queries.metrics import CONTENT_TYPE, exposition
from interlock.ui.queries.status import pool_object, slots_now

if TYPE_CHECKING:
    from aiohttp.web import TCPSite

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
PATH = "/metrics"


@cli_command("metrics")
def metrics_command(invocation: Invocation) -> None:
    """Print the figures of this project in the text format of Prometheus.

    A run serves the same figures live with `interlock run --metrics-port 9464`. From the outside the
    figures of a run are the last ones in the log, written at most once a minute and at its end.
    For example: interlock metrics --json
    """
    reading = read_project(invocation)
    board = Board(reading.state)
    if invocation.wants_json():
        say_json(pool_object(reading, board))
        return
    measured = reading.state.pool
    figures = measured.figures if measured else PoolFigures()
    text = exposition(reading.state, slots_now(reading, board), figures, reading.is_live)
    click.echo(inert(text), nl=False)


@asynccontextmanager
async def metrics_served(port: int, text: Callable[[], str]) -> AsyncIterator[None]:
    """Answer on the port while the block runs; with port 0 nothing is opened."""
    if not port:
        yield
        return
    from aiohttp import web

    # What the library says of a request that it cannot read is not for the terminal of a run.
    silent = logging.Logger("interlock.metrics", logging.CRITICAL + 1)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        # A page in a browser can reach this port under a name of its own, but not under ours.
        if request.host.rpartition(":")[0] not in NAMES:
            return web.Response(status=403, text=f"ask for http://{HERE}:{port}{PATH}\n")
        if request.path != PATH or request.method not in ("GET", "HEAD"):
            return web.Response(status=404, text=f"there is only GET {PATH}\n")
        return web.Response(body=text().encode(), headers={"Content-Type": CONTENT_TYPE})

    runner = web.ServerRunner(web.Server(answer, access_log=None, logger=silent), shutdown_timeout=1.0)
    await runner.setup()
    try:
        await _listen(web.TCPSite(runner, HERE, port), port)
        yield
    finally:
        await runner.cleanup()


async def _listen(site: "TCPSite", port: int) -> None:
    try:
        await site.start()
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise EnvironmentProblem(
            f"metrics cannot be served on port {port} of {HERE}: {why}",
            "choose another port with --metrics-port, or 0 for none",
        ) from error
