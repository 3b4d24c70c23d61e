"""What the tests of the proxy share: five languages as requests, and an open endpoint to speak through."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import ClientSession, UnixConnector, web

from interlock.agents.adapter import Wire
from interlock.model.usage import LOCAL, Usage
from interlock.proxy import Endpoint, EndpointOrder, Gate, ModelProxy, OpenGate, ProxyLimits

KEY = "the-real-credential-0123456789"
KEY_ENV = "SPECIAL_KEY"
BOUND_SECONDS = 60.0
"""Only how long a failing test takes."""

_SAID = [{"role": "user", "content": "Say something."}]


@dataclass(frozen=True)
class Language:
    """How a program asks for words in one of the five protocols."""

    wire: Wire
    path: str
    stream_path: str
    body: Mapping[str, object]
    streaming: Mapping[str, object]
    key_header: str
    usage: Usage
    """What the scripted model reports for the first step."""
    error_text: tuple[str, ...] = ("error", "message")

    def asked(self, stream: bool) -> tuple[str, dict[str, object]]:
        extra = self.streaming if stream else {"stream": False} if self.wire == Wire.OLLAMA else {}
        return (self.stream_path if stream else self.path), {**self.body, **extra}


ANTHROPIC = Language(
    Wire.ANTHROPIC,
    "/v1/messages",
    "/v1/messages",
    {"model": "claude-x", "max_tokens": 64, "system": "Be brief.", "messages": _SAID},
    {"stream": True},
    "x-api-key",
    Usage(1010, 50, 10, calls=1).priced(0.0, LOCAL),
)
CHAT = Language(
    Wire.OPENAI,
    "/v1/chat/completions",
    "/v1/chat/completions",
    {"model": "gpt-x", "messages": _SAID},
    {"stream": True},
    "authorization",
    Usage(1000, 50, 10, calls=1).priced(0.0, LOCAL),
)
RESPONSES = Language(
    Wire.OPENAI,
    "/v1/responses",
    "/v1/responses",
    {"model": "gpt-x", "input": [{"type": "message", **_SAID[0]}]},
    {"stream": True},
    "authorization",
    Usage(1000, 50, 10, calls=1).priced(0.0, LOCAL),
)
GEMINI = Language(
    Wire.GEMINI,
    "/v1beta/models/gemini-x:generateContent",
    "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
    {"contents": [{"role": "user", "parts": [{"text": "Say something."}]}]},
    {},
    "x-goog-api-key",
    Usage(1000, 50, 10, calls=1).priced(0.0, LOCAL),
)
OLLAMA = Language(
    Wire.OLLAMA,
    "/api/chat",
    "/api/chat",
    {"model": "local-x", "messages": _SAID},
    {"stream": True},
    "authorization",
    Usage(1000, 50, 0, calls=1).priced(0.0, LOCAL),
    ("error",),
)
LANGUAGES = {
    "anthropic": ANTHROPIC,
    "chat": CHAT,
    "responses": RESPONSES,
    "gemini": GEMINI,
    "ollama": OLLAMA,
}


@dataclass(frozen=True)
class Heard:
    """An answer as the program got it."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass
class Line:
    """An open endpoint, and a program at its other end."""

    endpoint: Endpoint
    session: ClientSession
    transcript: Path

    async def ask(
        self, language: Language, stream: bool = False, headers: Mapping[str, str] | None = None
    ) -> Heard:
        path, body = language.asked(stream)
        return await self.send("POST", path, headers, json.dumps(body).encode())

    async def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Heard:
        sent = {"x-api-key": self.endpoint.token} if headers is None else headers
        url = f"http://127.0.0.1:8080{path}"
        async with self.session.request(method, url, data=body or None, headers=sent) as answer:
            return Heard(answer.status, dict(answer.headers), await answer.read())

    def entries(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.transcript.read_text().splitlines()]


@dataclass(frozen=True)
class Setting:
    """How a proxy is set up in a test."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=lambda: {KEY_ENV: KEY})
    key_env: str = KEY_ENV
    limits: ProxyLimits = field(default_factory=ProxyLimits)
    gate: Gate = field(default_factory=OpenGate)

    @asynccontextmanager
    async def line(self, wire: Wire, upstream: str) -> AsyncIterator[Line]:
        transcript = self.folder / "transcript.ndjson"
        proxy = ModelProxy(self.environ, self.folder / "s", self.gate, self.limits)
        order = EndpointOrder("attempt", wire, upstream, self.key_env, transcript)
        async with (
            asyncio.timeout(BOUND_SECONDS),
            proxy.open(order) as endpoint,
            ClientSession(connector=UnixConnector(endpoint.socket)) as session,
        ):
            yield Line(endpoint, session, transcript)


Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def upstream(answer: Answer, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """A server of the test's own, for what the scripted model does not do."""
    runner = web.ServerRunner(
        web.Server(answer, access_log=None, handler_cancellation=True), shutdown_timeout=0.1
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, 0).start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
