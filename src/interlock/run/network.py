"""The Protocol of an attempt's network: a way to its model, and to the hosts that it may reach."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from interlock.model.kinds import Wire
from interlock.model.outcome import Order
from interlock.model.sandbox import ForwardedPort
from interlock.model.session import Usage
from interlock.proxy import CallError


class ProxyRecord(NamedTuple):
    """The proxy's view of a session so far."""

    usage: Usage
    trouble: CallError | None = None


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Way:
    """One way out."""

    url: str = ""
    """The model proxy as the program sees it; '' if it has no model of ours."""
    token: str = ""
    forwarded_ports: tuple[ForwardedPort, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that tell programs to use it."""
    seen: Callable[[], ProxyRecord | None] = _nothing


class AttemptNetwork(Protocol):
    """Opens ways out, for as long as an attempt runs."""

    def to_model(self, order: Order, wire: Wire) -> AbstractAsyncContextManager[Way]: ...

    def to_hosts(self, name: str, hosts: tuple[str, ...]) -> AbstractAsyncContextManager[Way]:
        """Open the way to these hosts, and to those that the project allows."""
        ...

    def to_tools(
        self, serve: Callable[[Path, str], AbstractAsyncContextManager[None]]
    ) -> AbstractAsyncContextManager[Way]:
        """Open the way to the tools of the attempt: served on a socket, to callers that know a token."""
        ...

    def to_databases(self, variables: Mapping[str, str]) -> AbstractAsyncContextManager[Way]:
        """Make the databases among leased values, and open the way to them."""
        ...

    def to_hooks(self, respond: Callable[[bytes], Awaitable[bytes]]) -> AbstractAsyncContextManager[Way]:
        """Open the way to the user's hooks, which answer what a program asks them."""
        ...
