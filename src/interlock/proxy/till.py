"""Takes the most that a call may use from the budgets before it goes out, and its real use when it ends."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from interlock.model.budget import Amount
from interlock.model.failure_words import failure_text
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why
from interlock.proxy.exchange import Exchange
from interlock.proxy.json_values import count_at
from interlock.proxy.order import CallError, EndpointOrder, ModelCall
from interlock.proxy.prices import Prices, Tokens
from interlock.proxy.purse import Purse
from interlock.proxy.request_check import AdmittedRequest
from interlock.proxy.routes import Dialect

BYTES_PER_TOKEN = 3
"""Of a request. English has four, code and JSON three: this counts rather too many tokens than too few."""
USUAL_OUTPUT = 8_192
"""Tokens of an answer to a request that names no limit."""
_LIMITS: dict[Dialect, tuple[tuple[str, ...], ...]] = {
    Dialect.MESSAGES: (("max_tokens",),),
    Dialect.CHAT: (("max_completion_tokens",), ("max_tokens",)),
    Dialect.RESPONSES: (("max_output_tokens",),),
    Dialect.GEMINI: (("generationConfig", "maxOutputTokens"),),
    Dialect.OLLAMA: (("options", "num_predict"),),
}
"""The fields in which a request limits the length of its answer."""


class OverBudget(Exception):
    """A budget does not allow the call. It is not sent."""

    def __init__(self, why: Reason) -> None:
        super().__init__(failure_text(why))
        is_own = why.code == Why.UNPRICED or why.text("budget") == "attempt"
        error = ErrorClass.BUDGET if is_own else ErrorClass.OUTSIDE
        self.trouble = CallError(error, failure_text(why), why=why)


class Till:
    """One for each way to a model."""

    def __init__(self, purse: Purse, prices: Prices, order: EndpointOrder) -> None:
        self.prices = prices
        self._purse = purse
        self._order = order

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Let the attempt be known to the budgets as long as its program may call."""
        key = self._order.key
        if key:
            self._purse.open(key, self._order.reserved)
        try:
            yield
        finally:
            if key:
                self._purse.close(key)

    async def prepare(self, asked: AdmittedRequest, model: str) -> None:
        order = self._order
        if asked.route.generates and self.prices.needs_list(order.wire, order.upstream, (model,)):
            await asyncio.to_thread(self.prices.prepare)

    @contextmanager
    def taken(self, exchange: Exchange, value: object, call: ModelCall) -> Iterator[None]:
        """Take the most that the call may use while it is under way; raises `OverBudget`."""
        key = self._order.key
        if key is None or not call.generates:
            yield
            return
        most, is_priced = self._most(exchange, value, call)
        if why := self._purse.ask(key, most, is_priced=is_priced):
            raise OverBudget(replace(why, fields={**why.fields, "model": call.model}))
        try:
            yield
        finally:
            self._purse.settle(key, most, exchange.outcome.usage)

    def _most(self, exchange: Exchange, value: object, call: ModelCall) -> tuple[Amount, bool]:
        """Return the most that it may use, by its size and the limit of its answer, and if it has a price."""
        order = self._order
        asked = (count_at(value, *path) for path in _LIMITS.get(exchange.asked.route.dialect, ()))
        output = next((limit for limit in asked if limit), USUAL_OUTPUT)
        tokens = Tokens(len(exchange.body) // BYTES_PER_TOKEN, output)
        price = (
            self.prices.of(order.wire, order.upstream, (call.model,), tokens)
            if self._purse.is_limited
            else None
        )
        usd = price.usd if price else None
        return Amount(usd or 0.0, tokens.input + tokens.output), usd is not None
