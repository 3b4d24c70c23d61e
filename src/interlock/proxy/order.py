"""The nouns of the model proxy: what an attempt asks for, and what is known of each call."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interlock.model.budget import Amount
from interlock.model.kinds import Wire
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason
from interlock.model.session import Usage
from interlock.model.task import AttemptKey


@dataclass(frozen=True, slots=True)
class EndpointOrder:
    """One way to a model, for one attempt."""

    name: str
    wire: Wire
    upstream: str
    """The base URL to pass calls on to; '' is the provider's own."""
    key_env: str
    """The variable that holds the credential; '' is the provider's usual one, for its own host only."""
    transcript: Path
    token: str = field(default="", repr=False)
    """The API key of its program; '' is a random one."""
    key: AttemptKey | None = None
    """The attempt, for the budgets; None: no attempt, and no budget holds for it."""
    reserved: Amount | None = None
    """The share of them that is reserved for it."""


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Limits of the proxy: waiting times, sizes, and requests that make the provider contact others."""

    connect_seconds: float = 10.0
    silence_seconds: float = 300.0
    """Between two pieces of an answer. Models that think before they speak are silent for minutes."""
    request_bytes: int = 32 * 1024 * 1024
    """The largest that any of the providers takes."""
    held_bytes: int = 128 * 1024 * 1024
    """The most of all requests that are under way for one attempt."""
    connections: int = 64
    """The most connections at once to the hosts an attempt may reach."""
    server_fetches: bool = False
    """Requests may make the provider's server contact others."""


class CallError(NamedTuple):
    """The fault of a call."""

    error: ErrorClass
    text: str
    retry_after_seconds: float = 0.0
    is_down: bool = False
    """No server listens at the address: the next call would find the same."""
    why: Reason | None = None
    """The same as data, where it is no provider's words."""


class Allowance(NamedTuple):
    """The provider's count of the calls that are left."""

    limit: int
    remaining: int
    reset_seconds: float
    """Until all of them are there again."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A request on its way to a model, as a gate sees it."""

    method: str
    path: str
    model: str = ""
    generates: bool = True
    """True if it costs tokens; lists of models and counts of tokens do not."""
    asked_at: float = 0.0
    """The time that its program asked, on the clock of the event loop."""
    tries: int = 0
    """The number of refusals since."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The end of a call."""

    status: int
    """0: there was no answer."""
    usage: Usage
    trouble: CallError | None = None
    allowance: Allowance | None = None


# One way to a model, open as long as its attempt.


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
