"""A token exchanged for a cookie: the token is in the URL's fragment only until the page has read it."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from interlock import __version__
from interlock.ui.web.keys import SESSION_SECONDS
from interlock.ui.web.route import Ask
from interlock.ui.web.scopes import PERSONS, Unknown
from interlock.ui.web.wire import encoded

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """The token of a URL."""

    token: Annotated[str, Meta(max_length=200)]


@dataclass(frozen=True, slots=True)
class Session:
    """The rights of the caller."""

    scope: str
    """`read`, `act` or `decide`, each with those before it; `own` for an agent; `open` without a token."""
    projects: list[str]
    version: str


def _session(ask: Ask, scope: str) -> Session:
    return Session(scope, [] if scope == "open" else list(ask.site.feeds), __version__)


async def session(ask: Ask) -> Session:
    return _session(ask, ask.caller.name)


async def begin(ask: Ask, request: "Request") -> "StreamResponse":
    from aiohttp.web import Response

    scope = ask.site.keys.scope_of(ask.values.token)
    if scope is None or scope not in PERSONS.values():
        raise Unknown("the token is wrong", "interlock ui --print-url")
    answer = Response(body=encoded(_session(ask, scope.name.lower())), content_type="application/json")
    answer.set_cookie(
        ask.site.keys.cookie_name,
        ask.site.keys.session(scope, time.time()),
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="Strict",
        secure=request.scheme == "https",
    )
    return answer


async def end(ask: Ask, _request: "Request") -> "StreamResponse":
    from aiohttp.web import Response

    answer = Response(body=encoded(_session(ask, "open")), content_type="application/json")
    answer.del_cookie(ask.site.keys.cookie_name, httponly=True, samesite="Strict")
    return answer
