"""One call of a model: asked, passed on piece by piece, counted, recorded.

1. A piece goes to the program before the next one is read. Nothing waits for the whole answer.
2. However the call ends, it is told to the gate and written down once.
3. An answer that broke in the middle breaks for the program too: a clean end would be a lie.
4. A refusal is kept back while the gate would have the call made again: the program need not hear of it.
5. What an answer says it has used is on disk before the program gets that piece: a program that has the end
   of an answer may go on, and this process may die, before the call is written down.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from aiohttp import ClientConnectorError, ClientError, ClientResponse, ClientSession, web
from multidict import CIMultiDict
from yarl import URL

from interlock.model.outcome import ErrorClass
from interlock.model.session import Usage
from interlock.proxy.classify import allowance_of, not_found, trouble_of_answer
from interlock.proxy.counting import AnswerTally, add_event, judged
from interlock.proxy.headers import answered_on, asked_on
from interlock.proxy.json_stream import Form, JsonStream, form_of
from interlock.proxy.order import Allowance, CallError, CallOutcome, EndpointOrder, ProxyLimits
from interlock.proxy.prices import Prices
from interlock.proxy.request_check import AdmittedRequest, NotAllowed, credential, joined, upstream_of
from interlock.proxy.routes import error_body

ERROR_BYTES = 64 * 1024
TURNED_AWAY = frozenset({429, 503, 529})
PASSING = frozenset({ErrorClass.RATE_LIMIT, ErrorClass.OVERLOADED})
"""Errors that pass after a while; a quota does not."""


class Scrubber:
    """Keeps the credential out of what goes back to a program, should a server repeat it.

    It puts stars in place of a secret in a stream, as many as it has bytes, wherever the stream is cut.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._stars = b"*" * len(self._secret)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes that can go on. Only a possible beginning of the secret is held back."""
        if not self._secret:
            return chunk
        text = (self._held + chunk).replace(self._secret, self._stars)
        held = self._begun(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def finish(self) -> bytes:
        rest, self._held = self._held, b""
        return rest

    def whole(self, text: str) -> str:
        """The same for a text that comes in one piece."""
        raw = text.encode(errors="surrogateescape")
        clean = raw.replace(self._secret, self._stars) if self._secret else raw
        return clean.decode(errors="surrogateescape")

    def _begun(self, text: bytes) -> int:
        """Return the number of bytes at the end that could be the secret's first ones."""
        longest = min(len(self._secret) - 1, len(text))
        return next((size for size in range(longest, 0, -1) if text.endswith(self._secret[:size])), 0)


class _ProgramGone(Exception):
    """The program no longer reads the answer."""


@dataclass(slots=True)
class Exchange:
    """The state of one call. `outcome` is right at any moment."""

    order: EndpointOrder
    asked: AdmittedRequest
    body: bytes
    environ: Mapping[str, str] = field(repr=False)
    limits: ProxyLimits
    prices: Prices
    model: str = ""
    """The model that was asked for; its server may say another name."""
    status: int = 0
    trouble: CallError | None = None
    note: str = ""
    removed: tuple[str, ...] = ()
    """The tools and fields that were taken out of the request."""
    sent: bool = False
    """True if it went out: a call that was held back or had no credential does not count."""
    is_first: bool = True
    """The attempt has had no answer yet: nothing is lost if its program gives up at once."""
    keeps_refusals: bool = False
    is_kept: bool = False
    """The answer was a refusal, and the program has not heard of it."""
    allowance: Allowance | None = None
    tally: AnswerTally = field(default_factory=AnswerTally)
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    note_count: Callable[["Exchange"], None] = lambda _exchange: None
    """Writes down what the call has used so far."""
    _noted: Usage = field(default_factory=Usage)
    _begun: web.StreamResponse | None = None
    _refusal: bytearray = field(default_factory=bytearray)
    _pieces: JsonStream = field(default_factory=lambda: JsonStream(Form.WHOLE))

    @property
    def outcome(self) -> CallOutcome:
        """Return the outcome so far. A call that broke off may still have cost tokens."""
        usage = self._priced() if self.sent and self.asked.route.generates else Usage()
        return CallOutcome(self.status, usage, self.trouble, self.allowance)

    def _priced(self) -> Usage:
        tally, order = self.tally, self.order
        models = (tally.model, self.model)
        return self.prices.put_on(tally.usage, order.wire, order.upstream, models, tally.part("made"))

    async def answer(self, request: web.BaseRequest, session: ClientSession) -> web.StreamResponse:
        """Ask upstream and pass its answer on; what goes wrong is answered in the provider's own form."""
        try:
            return await self._ask(request, session)
        except NotAllowed as refused:
            return self._fail(request, refused.status, CallError(ErrorClass.AUTH, refused.text))
        except TimeoutError:
            text = f"the model at {self._host} did not answer in time"
            return self._fail(request, 504, CallError(ErrorClass.NETWORK, text))
        except _ProgramGone:
            self.note = "the program went away"
            return self._begun or web.Response(status=499)
        except asyncio.CancelledError:
            self.note = "the program went away"
            raise
        except (ClientError, OSError, ValueError) as problem:
            text = f"the model at {self._host} cannot be reached: {_in_words(problem)}"
            return self._fail(request, 502, CallError(ErrorClass.NETWORK, text, is_down=_is_down(problem)))

    @property
    def _host(self) -> str:
        return urlsplit(upstream_of(self.order)).netloc

    async def _ask(self, request: web.BaseRequest, session: ClientSession) -> web.StreamResponse:
        headers = CIMultiDict(asked_on(request.headers.items()))
        if self.body:
            headers["Content-Type"] = "application/json"
        headers["Accept-Encoding"] = "identity"
        secret = ""
        found = credential(self.order, self.asked.route.dialect, self.environ)
        if found:
            header, prefix, secret = found
            headers[header] = prefix + secret
        self.sent = True
        self._note()
        url = joined(upstream_of(self.order), self.asked.path, self.asked.query)
        async with session.request(
            self.asked.method,
            URL(url, encoded=True),
            data=self.body or None,
            headers=headers,
            allow_redirects=False,
            proxy=outer_proxy(url, self.environ),
        ) as upstream:
            try:
                return await self._relay(request, upstream, Scrubber(secret))
            except BaseException:
                # Kept alive, the connection would go on to receive an answer that no program wants.
                upstream.close()
                raise

    async def _relay(
        self, request: web.BaseRequest, upstream: ClientResponse, scrubber: Scrubber
    ) -> web.StreamResponse:
        self.status = upstream.status
        self.allowance = allowance_of(upstream.headers, time.time())
        if self.keeps_refusals and self.status in TURNED_AWAY:
            return await self._keep(upstream, scrubber)
        self._pieces = JsonStream(form_of(upstream.headers.get("Content-Type", "")))
        response = await self._begin(request, upstream, scrubber)
        held = b""
        async for chunk in upstream.content.iter_any():
            self._look_at(chunk)
            self._note()
            await _send(response, held)
            held = scrubber.feed(chunk)
            if not self._pieces.is_whole:
                await _send(response, held)
                held = b""
        self._judge(upstream)
        self._note()
        await _send(response, held + scrubber.finish())
        return response

    def _note(self) -> None:
        if self.asked.route.generates and (used := self.tally.usage) != self._noted:
            self._noted = used
            self.note_count(self)

    async def _keep(self, upstream: ClientResponse, scrubber: Scrubber) -> web.Response:
        """The refusal as it came, for when nothing better does."""
        self._look_at(await upstream.content.read(ERROR_BYTES))
        self._judge(upstream)
        self.is_kept = self.trouble is not None and self.trouble.error in PASSING
        headers = [(name, scrubber.whole(value)) for name, value in answered_on(upstream.headers.items())]
        body = scrubber.feed(bytes(self._refusal)) + scrubber.finish()
        return web.Response(status=self.status, headers=CIMultiDict(headers), body=body)

    async def _begin(
        self, request: web.BaseRequest, upstream: ClientResponse, scrubber: Scrubber
    ) -> web.StreamResponse:
        headers = [(name, scrubber.whole(value)) for name, value in answered_on(upstream.headers.items())]
        response = web.StreamResponse(status=upstream.status, headers=CIMultiDict(headers))
        length = upstream.headers.get("Content-Length", "")
        if length.isdecimal() and "Content-Encoding" not in upstream.headers:
            response.content_length = int(length)
        try:
            await response.prepare(request)
        except ConnectionError as gone:
            raise _ProgramGone from gone
        self._begun = response
        return response

    def _look_at(self, chunk: bytes) -> None:
        if self.status >= 300:
            self._refusal += chunk[: ERROR_BYTES - len(self._refusal)]
        elif self.asked.route.generates:
            for value in self._pieces.feed(chunk):
                add_event(self.asked.route.dialect, value, self.tally)

    def _judge(self, upstream: ClientResponse) -> None:
        if self.status >= 300:
            self.trouble = trouble_of_answer(self.status, upstream.headers, bytes(self._refusal), time.time())
            if self.status == HTTPStatus.NOT_FOUND and self.asked.route.generates:
                self.trouble = not_found(self.trouble, self.tally.model, self._host, self.asked.path)
        elif self.asked.route.generates:
            for value in self._pieces.finish():
                add_event(self.asked.route.dialect, value, self.tally)
            self.trouble = judged(self.tally)

    def _fail(self, request: web.BaseRequest, status: int, trouble: CallError) -> web.StreamResponse:
        self.trouble = trouble
        if self._begun:
            if request.transport:
                # The written part still goes out, the end of the answer does not.
                request.transport.close()
            return self._begun
        self.status = status
        return refusal(self.asked, status, trouble, gives_up=trouble.is_down and self.is_first)


def _is_down(problem: Exception) -> bool:
    return isinstance(problem, ClientConnectorError) and isinstance(problem.os_error, ConnectionRefusedError)


def _in_words(problem: Exception) -> str:
    """Describe the problem. The most common case is in the words that people know."""
    if _is_down(problem):
        return "connection refused"
    return str(problem) or type(problem).__name__


def refusal(asked: AdmittedRequest, status: int, trouble: CallError, gives_up: bool = False) -> web.Response:
    """An answer of ours, as the provider would word it. `gives_up`: the program is not to ask again, for
    another agent may have the task at once. The clients of Anthropic and OpenAI know that header."""
    headers = {"Retry-After": f"{trouble.retry_after_seconds:.0f}"} if trouble.retry_after_seconds else {}
    if gives_up:
        headers = {"X-Should-Retry": "false"}
    return web.Response(
        status=status,
        body=error_body(asked.route.dialect, status, trouble.text),
        content_type="application/json",
        headers=headers,
    )


async def _send(response: web.StreamResponse, chunk: bytes) -> None:
    """Apart from reading, because both sides fail with the same errors and mean different things."""
    if not chunk:
        return
    try:
        await response.write(chunk)
    except ConnectionError as gone:
        raise _ProgramGone from gone


def outer_proxy(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that this machine's environment names for the way out, if any."""
    parts = urlsplit(url)
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name) or environ.get(name.upper()) or ""
    exempt = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").lower().replace(",", " ").split()
    host = parts.hostname or ""
    is_here = host in ("localhost", "::1") or host.startswith("127.")
    is_exempt = any(entry == "*" or f".{host}".endswith("." + entry.lstrip("*.")) for entry in exempt)
    return None if is_here or is_exempt else proxy or None
