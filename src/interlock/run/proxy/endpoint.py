"""One way to a model, open as long as its attempt: what may use it, and what has been used."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from interlock.model.session import Usage
from interlock.run.proxy.order import EndpointOrder, Trouble


@dataclass(slots=True)
class Endpoint:
    """What an attempt is given. Its numbers grow with each call that ends."""

    order: EndpointOrder
    socket: str
    """The unix socket, for the door of a sandbox."""
    egress_socket: str = ""
    """The unix socket of the HTTP proxy to the hosts that the order allows; '' if it allows none."""
    token: str = field(default_factory=lambda: "il-" + secrets.token_hex(24), repr=False)
    """What the program sends as its API key. It opens this endpoint and nothing else."""
    port: int = 0
    """On 127.0.0.1; 0 until `tcp` was called."""
    usage: Usage = field(default_factory=Usage)
    """Counted from the wire: every call that could cost tokens, also those that failed."""
    last_error: Trouble | None = None
    """What went wrong with the latest call; None when it went well."""
    listen: Callable[[], Awaitable[int]] | None = field(default=None, repr=False)

    @property
    def calls(self) -> int:
        return self.usage.calls

    async def tcp(self) -> int:
        """Open a port on 127.0.0.1 too, for a program that is not alone in its network."""
        if not self.port and self.listen:
            self.port = await self.listen()
        return self.port
