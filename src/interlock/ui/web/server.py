"""The server: routes of the table behind the guard, on one address."""

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from interlock.model.errors import UserError
from interlock.ui.queries.problem import error_object
from interlock.ui.web.connections import HANDSHAKE_SECONDS, Connections, answering, connection_of
from interlock.ui.web.guard import HEADERS, require
from interlock.ui.web.route import KEY, MOST_KEY_CHARS, Ask, Route
from interlock.ui.web.routes import ROUTES
from interlock.ui.web.scopes import Caller, NotThere, Refused, Scope, Unknown
from interlock.ui.web.site import Site
from interlock.ui.web.static_files import page
from interlock.ui.web.wire import encoded

BODY_BYTES = 256 * 1024
BODY_SECONDS = 15.0
SHUTDOWN_SECONDS = 1.0
_SILENT = logging.Logger("interlock.web", logging.CRITICAL + 1)
"""The library would print a traceback for each request that it cannot read."""
JSON = "application/json"


class WrongInput(UserError):
    """Parameters or a body that the route does not take."""

    code = "input"
    status = 422


class TooSlow(UserError):
    """The body of a request takes too long to come."""

    code = "too-slow"
    status = 408
    retryable = True


@asynccontextmanager
async def serving(site: Site, sock: socket.socket, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
    """Answer on a bound socket while the block runs."""
    app = application(site)
    runner = web.AppRunner(app, access_log=None, logger=_SILENT, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    server = runner.server
    assert server is not None  # noqa: S101 - `setup` has just made it
    connections = Connections(server)

    followers = [asyncio.create_task(feed.run()) for feed in site.feeds.values()]
    followers.append(asyncio.create_task(connections.watch()))
    handshake = HANDSHAKE_SECONDS if tls else None
    listener = await asyncio.get_running_loop().create_server(
        connections.accept, sock=sock, ssl=tls, ssl_handshake_timeout=handshake
    )
    try:
        yield
    finally:
        listener.close()
        for follower in followers:
            follower.cancel()
        await asyncio.gather(*followers, return_exceptions=True)
        await runner.cleanup()


def application(site: Site) -> web.Application:
    @web.middleware
    async def guarded(request: web.Request, handler: Any) -> web.StreamResponse:  # Any: the library's own
        try:
            async with answering(request):
                site.guard.check_place(request)
                answer: web.StreamResponse = await handler(request)
                return answer
        except ConnectionError:
            raise  # the client has gone: there is nothing to tell
        except Exception as problem:  # noqa: BLE001 - a defect in one answer must not end the others
            return _problem(problem)

    app = web.Application(middlewares=[guarded], client_max_size=BODY_BYTES, logger=_SILENT)
    app.on_response_prepare.append(_add_headers)
    for route in ROUTES:
        app.router.add_route(route.method, route.path, _handler(site, route))
    app.router.add_get("/{name:.*}", page)
    return app


async def _add_headers(_request: web.Request, answer: web.StreamResponse) -> None:
    answer.headers["Server"] = "interlock"
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)


def _handler(site: Site, route: Route) -> Any:  # Any: the library's own
    async def handle(request: web.Request) -> web.StreamResponse:
        caller = _caller(site, route, request)
        name = request.query.get("project", "")
        values = await _values(route, request)
        _keep_to_own(caller, values, name)
        ask = Ask(site, caller, values, caller.project or name, _key(request))
        if route.stream:
            return await route.stream(ask, request)
        assert route.answer is not None  # noqa: S101 - a route has one of the two
        return web.Response(body=encoded(await route.answer(ask)), content_type=JSON)

    return handle


def _caller(site: Site, route: Route, request: web.Request) -> Caller:
    """The sender, with enough rights. A cookie that is too old must not keep anyone from a new one."""
    try:
        caller = site.guard.caller(request, time.time())
    except Unknown:
        if route.scope is not Scope.OPEN:
            raise
        caller = Caller(Scope.OPEN)
    require(caller, route.scope)
    if caller.scope > Scope.OWN and (connection := connection_of(request)):
        connection.is_known = True
    return caller


def _keep_to_own(caller: Caller, values: object, project: str) -> None:
    """An agent reaches its own attempt in its own project, by the whole name of its task, and no more."""
    if caller.scope is not Scope.OWN:
        return
    is_own = getattr(values, "id", caller.task) == caller.task and project in ("", caller.project)
    if not is_own or getattr(values, "attempt", None) not in (None, caller.attempt):
        raise Refused("an agent's token is for its own attempt")


def _key(request: web.Request) -> str:
    key = request.headers.get(KEY, "")
    if len(key) > MOST_KEY_CHARS:
        raise WrongInput(f"{KEY} has more than {MOST_KEY_CHARS} characters")
    return key


async def _values(route: Route, request: web.Request) -> object:
    try:
        if route.method == "POST":
            if request.content_type != JSON:
                raise WrongInput(f"the body must be {JSON}")
            return msgspec.json.decode(await _body(request), type=route.takes)
        found: dict[str, object] = {k: v for k, v in request.query.items() if k != "project"}
        return msgspec.convert({**found, **request.match_info}, route.takes, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WrongInput(f"{error}") from error


async def _body(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise TooSlow(f"the body did not come within {BODY_SECONDS:g} s") from None


class Defect(UserError):
    """A defect of Interlock."""

    code = "internal"
    status = 500
    hint = "`interlock doctor`; the log is intact"


STATUS = {"environment": 503, "store": 503}
"""Codes of errors that are the machine's fault. Those of people's requests are conflicts with what is."""


def _problem(problem: Exception) -> web.Response:
    told, status = _told(problem)
    return web.Response(status=status, body=encoded({"error": error_object(told)}), content_type=JSON)


def _told(problem: Exception) -> tuple[UserError, int]:
    if isinstance(problem, UserError):
        return problem, getattr(problem, "status", STATUS.get(problem.code, 409))
    if isinstance(problem, msgspec.ValidationError):
        return WrongInput(str(problem)), WrongInput.status
    if isinstance(problem, web.HTTPException):
        known = NotThere if problem.status == NotThere.status else Refused
        return known(problem.reason), problem.status
    return Defect(f"internal error: {type(problem).__name__}: {problem}"), Defect.status
