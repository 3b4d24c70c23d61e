"""Decides who may ask for what. Everything is refused that is not allowed here.

1. Host must be one of the names that the server was started for: a page of another name that leads to this
   address (DNS rebinding) is refused.
2. Origin, where there is one, must be this server's own.
3. A cookie counts only for a page of this server: with its Origin, or for reading if the browser says that
   the request is of the same origin. A program sends a token in `Authorization: Bearer` instead.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from interlock.ui.web.keys import Keys
from interlock.ui.web.scopes import Caller, Refused, Scope, Unknown

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    # The terminal of the dashboard sets the style of its cells; scripts only come from files of ours.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
}
"""Sent with every answer."""


class Asking(Protocol):
    """The parts of a request that are judged here."""

    @property
    def method(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def cookies(self) -> Mapping[str, str]: ...


AgentOf = Callable[[str], Caller | None]
"""The agent that a token belongs to; None: to none that is at work."""


class Guard:
    """One for the server."""

    def __init__(self, keys: Keys, hosts: Collection[str], scheme: str, agent_of: AgentOf) -> None:
        self._keys = keys
        self._hosts = frozenset(host.lower() for host in hosts)
        self._scheme = scheme
        self._agent_of = agent_of

    def check_place(self, request: Asking) -> None:
        """Refuse what comes by another name, or from the page of another."""
        host = request.headers.get("Host", "").lower()
        if host not in self._hosts:
            names = ", ".join(sorted(self._hosts))
            raise Refused(
                f"this server is not `{host[:100]}`", f"ask for one of {names}, or use --allow-host"
            )
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() != f"{self._scheme}://{host}":
            raise Refused("the request comes from the page of another server")

    def caller(self, request: Asking, now: float) -> Caller:
        """The sender of a request. One without a token may ask for what is open to all."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer":
            scope = self._keys.scope_of(token.strip())
            found = Caller(scope) if scope else self._agent_of(token.strip())
            if found is None:
                raise Unknown("the token is wrong", "interlock ui --print-url")
            return found
        cookie = request.cookies.get(self._keys.cookie_name)
        if cookie is None:
            return Caller(Scope.OPEN)
        known = self._keys.of_session(cookie, now)
        if known is None:
            raise Unknown("the session is over", "interlock ui")
        if not self._is_own_page(request):
            raise Refused("the request does not come from a page of this server")
        return known

    def _is_own_page(self, request: Asking) -> bool:
        if request.headers.get("Origin") is not None:
            return True  # it was compared before
        return request.method in ("GET", "HEAD") and request.headers.get("Sec-Fetch-Site") == "same-origin"


def require(caller: Caller, scope: Scope) -> None:
    """Refuse a caller with too few rights."""
    if caller.scope >= scope:
        return
    if caller.scope is Scope.OPEN:
        raise Unknown("a token is needed", "interlock ui --print-url")
    raise Refused(f"the token may not do that: it needs the scope `{scope.name.lower()}`")
