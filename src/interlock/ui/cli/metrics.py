"""The figures of a run for Prometheus, served while it goes on."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from interlock.model.errors import EnvironmentProblem
from interlock.ui.queries.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from aiohttp.web import TCPSite

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
PATH = "/metrics"


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
