"""A route of the API as data: the server, the OpenAPI document and the tests read the same table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interlock.ui.web.scopes import Caller, Scope

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

    from interlock.ui.web.project import Served
    from interlock.ui.web.site import Site


KEY = "Idempotency-Key"
MOST_KEY_CHARS = 200


@dataclass(frozen=True, slots=True)
class NoParameters:
    """For routes without any."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that was allowed, with its parameters checked."""

    site: "Site"
    caller: Caller
    values: Any
    """An instance of `Route.takes`. Any: each route has its own type."""
    project: str = ""
    """The name of the project; empty: the first one."""
    key: str = ""
    """The key of an action that may be sent again, and is done once; empty: it has none."""

    @property
    def served(self) -> "Served":
        return self.site.project(self.project)


Answer = Callable[[Ask], Awaitable[object]]
Stream = Callable[[Ask, "Request"], Awaitable["StreamResponse"]]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    scope: Scope
    gives: Any
    """The type of the answer. Any: what `msgspec` makes a schema of."""
    summary: str
    answer: Answer | None = None
    stream: Stream | None = None
    """For an answer that is not one JSON document."""
    takes: type = NoParameters
    """Parameters: of the path, else of the query; of a POST the body."""
    content_type: str = field(default="application/json")
