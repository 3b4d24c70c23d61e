"""Serves the model calls of one attempt, each from the first check to the transcript."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web

from interlock.model.outcome import ErrorClass
from interlock.model.redact import Redactor, secret_values
from interlock.proxy.exchange import Exchange, refusal
from interlock.proxy.fetches import Fetches, ScreenedRequest, screened
from interlock.proxy.gate import Gate, Refused
from interlock.proxy.order import CallError, Endpoint, ModelCall, ProxyLimits
from interlock.proxy.request_check import (
    AdmittedRequest,
    NotAllowed,
    RequestCheck,
    key_variable,
    model_of,
    read_body,
    upstream_of,
    written,
)
from interlock.proxy.routes import USUAL, Dialect, error_body
from interlock.proxy.till import OverBudget, Till
from interlock.proxy.transcript import MODEL_CHARACTERS, Transcript, TranscriptEntry

SHUTDOWN_SECONDS = 0.1
"""An attempt that is over waits for no answer."""


_SILENT = logging.Logger("interlock.proxy", logging.CRITICAL + 1)
"""The library would print a traceback to the user's terminal for each request that it cannot read. The answer
says that already."""


class Serving:
    """Handles the calls that arrive at an endpoint."""

    def __init__(
        self, endpoint: Endpoint, environ: Mapping[str, str], gate: Gate, limits: ProxyLimits, till: Till
    ) -> None:
        upstream_of(endpoint.order)  # an address that is none is said now, and not at the first call
        self._endpoint = endpoint
        self._order = endpoint.order
        self._environ = environ
        self._gate = gate
        self._limits = limits
        self._till = till
        self._check = RequestCheck(endpoint.order, endpoint.token)
        self._transcript = Transcript(endpoint.order.transcript)
        self._secrets: frozenset[str] = frozenset()
        self._redactor = Redactor()
        self._opened = 0.0
        self._has_answered = False
        self._held_bytes = 0
        """Of the bodies of all requests under way."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        self._opened = asyncio.get_running_loop().time()
        async with self._session() as session:

            async def handle(request: web.BaseRequest) -> web.StreamResponse:
                return await self._handle(request, session)

            server = web.Server(
                handle, handler_cancellation=True, access_log=None, lingering_time=1.0, logger=_SILENT
            )
            runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_SECONDS)
            await runner.setup()
            try:
                await web.UnixSite(runner, self._endpoint.socket).start()
                Path(self._endpoint.socket).chmod(0o600)
                yield
            finally:
                await runner.cleanup()

    def _session(self) -> ClientSession:
        """Make one per attempt: connections that carry a credential are not shared."""
        return ClientSession(
            connector=TCPConnector(limit=0),
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
            timeout=ClientTimeout(
                total=None,
                connect=self._limits.connect_seconds,
                sock_connect=self._limits.connect_seconds,
                sock_read=self._limits.silence_seconds,
            ),
        )

    async def _handle(self, request: web.BaseRequest, session: ClientSession) -> web.StreamResponse:
        try:
            asked = self._check.admit(request.method, request.raw_path, request.headers.items())
            with self._holding() as hold:
                value = read_body(asked, await self._body(request, asked, hold))
                return await self._screened(request, session, asked, value)
        except NotAllowed as refused:
            return _error(refused.dialect, refused.status, refused.text)
        except Exception as problem:
            text = f"the model proxy failed: {problem!r}"
            self._endpoint.last_error = self._in_clean_words(CallError(ErrorClass.MODEL, text))
            if request.writer.output_size:
                raise  # the answer has begun, and cannot become another one
            return _error(USUAL[self._order.wire], 500, "the model proxy failed")

    @contextmanager
    def _holding(self) -> Iterator[Callable[[int], None]]:
        """Count the bytes of a body until its request has ended: it may be sent again until then."""
        held = 0

        def hold(size: int) -> None:
            nonlocal held
            held += size
            self._held_bytes += size

        try:
            yield hold
        finally:
            self._held_bytes -= held

    async def _body(
        self, request: web.BaseRequest, asked: AdmittedRequest, hold: Callable[[int], None]
    ) -> bytes:
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.silence_seconds):
                async for chunk in request.content.iter_any():
                    body += chunk
                    hold(len(chunk))
                    if self._held_bytes > self._limits.held_bytes:
                        raise NotAllowed(429, "this attempt has too much under way", asked.route.dialect)
                    if len(body) > self._limits.request_bytes:
                        text = f"the request is larger than {self._limits.request_bytes} bytes"
                        raise NotAllowed(413, text, asked.route.dialect)
        except (web.RequestPayloadError, TimeoutError) as problem:
            raise NotAllowed(400, "the request was cut off", asked.route.dialect) from problem
        return bytes(body)

    async def _screened(
        self,
        request: web.BaseRequest,
        session: ClientSession,
        asked: AdmittedRequest,
        value: dict[str, object],
    ) -> web.StreamResponse:
        call = ModelCall(
            asked.method,
            asked.path,
            model_of(asked.path, value),
            asked.route.generates,
            asyncio.get_running_loop().time(),
        )
        try:
            seen = (
                ScreenedRequest(value)
                if self._limits.server_fetches
                else screened(asked.route.dialect, value)
            )
        except Fetches as fetches:
            text = f'Interlock does not pass on {fetches} (server_fetches = "refuse")'
            trouble = self._in_clean_words(CallError(ErrorClass.BAD_REQUEST, text))
            exchange = self._exchange(asked, b"", call)
            exchange.status, exchange.trouble, exchange.note = 400, trouble, "not passed on"
            self._endpoint.last_error = trouble
            self._record(exchange, value, call)
            return refusal(asked, 400, trouble)
        return await self._call(request, session, asked, seen, call)

    def _exchange(self, asked: AdmittedRequest, body: bytes, call: ModelCall) -> Exchange:
        exchange = Exchange(
            self._order, asked, body, self._environ, self._limits, self._till.prices, call.model
        )
        exchange.tally.model = call.model
        exchange.is_first = not self._has_answered
        exchange.note_count = self._note_count
        return exchange

    def _note_count(self, exchange: Exchange) -> None:
        model = self._cleaner().clean(exchange.tally.model)[:MODEL_CHARACTERS]
        with suppress(OSError):  # as for the entry
            self._transcript.count(exchange.id, model, exchange.outcome.usage)

    async def _call(
        self,
        request: web.BaseRequest,
        session: ClientSession,
        asked: AdmittedRequest,
        seen: ScreenedRequest,
        call: ModelCall,
    ) -> web.StreamResponse:
        body = written(asked, seen.value)
        await self._till.prepare(asked, call.model)
        kept: web.StreamResponse | None = None
        while True:
            exchange = self._exchange(asked, body, call)
            exchange.removed = seen.removed
            try:
                with self._till.taken(exchange, seen.value, call):
                    answer = await self._pass(call, exchange, request, session)
            except OverBudget as short:
                exchange.status, exchange.trouble, exchange.note = 400, short.trouble, "not passed on"
                self._endpoint.last_error = short.trouble
                return kept or refusal(asked, 400, short.trouble)
            except Refused as held:
                exchange.status, exchange.trouble, exchange.note = 429, held.trouble, "not passed on"
                self._endpoint.last_error = held.trouble
                gives_up = held.trouble.is_down and not self._has_answered
                return kept or refusal(asked, 429, held.trouble, gives_up)
            finally:
                self._record(exchange, seen.value, call)
            if not exchange.is_kept:
                return answer
            kept, call = answer, replace(call, tries=call.tries + 1)

    async def _pass(
        self, call: ModelCall, exchange: Exchange, request: web.BaseRequest, session: ClientSession
    ) -> web.StreamResponse:
        """Wait for the gate, forward the call, and return the answer."""
        async with self._gate.turn(self._order, call) as turn:
            exchange.keeps_refusals = turn.may_repeat
            try:
                return await exchange.answer(request, session)
            finally:
                self._count(exchange)
                turn.ended(exchange.outcome)

    def _count(self, exchange: Exchange) -> None:
        """Calls that went upstream; what was wrong with the latest one, in words without secrets."""
        if exchange.trouble:
            exchange.trouble = self._in_clean_words(exchange.trouble)
        if not exchange.asked.route.generates:
            return
        self._endpoint.usage += exchange.outcome.usage
        if not exchange.note:
            self._endpoint.last_error = exchange.trouble
            self._has_answered |= exchange.trouble is None

    def _in_clean_words(self, trouble: CallError) -> CallError:
        text = self._cleaner().clean(trouble.text)
        if trouble.error == ErrorClass.AUTH and not key_variable(self._order):
            text += " (no key was sent, because none is named for this address)"
        return trouble._replace(text=text)

    def _cleaner(self) -> Redactor:
        """Return a redactor for the current secrets: a credential may be renewed while an attempt runs."""
        key = self._environ.get(key_variable(self._order), "")
        now = frozenset([*secret_values(self._environ), key, self._endpoint.token])
        if now != self._secrets:
            self._secrets, self._redactor = now, Redactor(now)
        return self._redactor

    def _record(self, exchange: Exchange, request: object, call: ModelCall) -> None:
        entry = TranscriptEntry(
            at_seconds=call.asked_at - self._opened,
            seconds=asyncio.get_running_loop().time() - call.asked_at,
            method=exchange.asked.method,
            path=exchange.asked.path,
            status=exchange.status,
            model=exchange.tally.model,
            usage=exchange.outcome.usage,
            request=request,
            answer=exchange.tally.text,
            trouble=exchange.trouble,
            note="turned away, and made again" if exchange.is_kept else exchange.note,
            removed=exchange.removed,
            call=exchange.id,
        )
        # A full disk must not spoil an answer that has come through; the attempt's own log will say so.
        with suppress(OSError):
            self._transcript.add(entry, self._cleaner())


def _error(dialect: Dialect, status: int, text: str) -> web.Response:
    return web.Response(
        status=status, body=error_body(dialect, status, text), content_type="application/json"
    )
