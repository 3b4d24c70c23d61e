"""The gate: budgets and rate limits hold calls up here, before they reach a model."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from interlock.model.errors import InterlockError
from interlock.model.outcome import ErrorClass
from interlock.proxy.order import CallError, CallOutcome, EndpointOrder, ModelCall


class Refused(InterlockError):
    """A gate does not let a call pass. The program gets a 429 in its provider's form."""

    def __init__(
        self,
        text: str,
        error: ErrorClass = ErrorClass.RATE_LIMIT,
        retry_after_seconds: float = 0.0,
        is_down: bool = False,
    ) -> None:
        super().__init__(text)
        self.trouble = CallError(error, text, retry_after_seconds, is_down)


class CallTurn(Protocol):
    """The leave to make one call."""

    @property
    def may_repeat(self) -> bool:
        """Tell if a call that was turned away is made again before its program hears of it."""
        ...

    def ended(self, outcome: CallOutcome) -> None:
        """Called once, before the turn is over, also when the program went away in the middle."""
        ...


class Gate(Protocol):
    """Decides when a call may go. Entering the turn may take its time, or raise `Refused`."""

    def turn(self, order: EndpointOrder, call: ModelCall) -> AbstractAsyncContextManager[CallTurn]: ...


class OpenGate:
    """Lets everything pass at once."""

    may_repeat = False

    @asynccontextmanager
    async def turn(self, order: EndpointOrder, call: ModelCall) -> AsyncIterator[CallTurn]:  # noqa: ARG002 - a Gate's signature
        yield self

    def ended(self, outcome: CallOutcome) -> None:
        """Remember nothing."""
