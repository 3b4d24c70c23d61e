"""The web server of an endpoint. What a program sends cannot make it print: its standard error is the user's
terminal."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from aiohttp import web

_SILENT = logging.Logger("interlock.proxy", logging.CRITICAL + 1)
"""The library would print a traceback for each request that it cannot read. The answer says that already."""

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Failed = Callable[[BaseException | None], bytes]
"""Makes the body of an answer. The exception is there if the request itself was in order."""


class QuietServer(web.Server):
    """Serves one endpoint."""

    def __init__(self, handle: Handle, failed: Failed) -> None:
        super().__init__(
            handle, handler_cancellation=True, access_log=None, lingering_time=1.0, logger=_SILENT
        )
        self.failed = failed

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, self.failed)


class _Connection(web.RequestHandler):
    """One connection of a program."""

    def __init__(self, server: QuietServer, failed: Failed) -> None:
        super().__init__(server, loop=server._loop, **server._kwargs)
        self._failed = failed

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - the library's words repeat what was sent
    ) -> web.StreamResponse:
        """An answer in the provider's form, or the end of one that has begun."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun, and cannot become another one")
        is_ours = status == HTTPStatus.INTERNAL_SERVER_ERROR
        answer = web.Response(
            status=status, body=self._failed(exc if is_ours else None), content_type="application/json"
        )
        answer.force_close()
        return answer
