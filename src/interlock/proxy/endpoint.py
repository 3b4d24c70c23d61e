"""One way to a model, open as long as its attempt: what may use it, and what has been used."""

import secrets
from dataclasses import dataclass, field

from interlock.model.session import Usage
from interlock.proxy.order import CallError, EndpointOrder


@dataclass(slots=True)
class Endpoint:
    """An attempt's access to its model. Its numbers grow with each call that ends."""

    order: EndpointOrder
    socket: str
    """The unix socket that a forwarded port of the program's network leads to."""
    token: str = field(default_factory=lambda: "il-" + secrets.token_hex(24), repr=False)
    """The API key that the program sends. It opens this endpoint and nothing else."""
    usage: Usage = field(default_factory=Usage)
    """Counted from the wire: every call that could cost tokens, also those that failed."""
    last_error: CallError | None = None
    """The fault of the latest call; None when it went well."""

    @property
    def calls(self) -> int:
        return self.usage.calls
