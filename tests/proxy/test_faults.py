"""Calls that go wrong: the program hears it in its provider's words, and we know which kind it was (A7)."""

import asyncio
import json
import socket
from contextlib import ExitStack
from dataclasses import replace
from itertools import product

import pytest
from aiohttp import ClientError, web

from interlock.agents.adapter import Wire
from interlock.model.error_words import of_status, of_text
from interlock.model.outcome import ErrorClass
from interlock.model.session import Usage
from interlock.proxy import ProxyLimits
from interlock.proxy.classify import trouble_of_answer
from interlock.proxy.json_values import text_at
from tests.agents.model_server import RunningModel
from tests.agents.model_server.faults import GARBAGE
from tests.proxy.stage import ANTHROPIC, CHAT, KEY, LANGUAGES, Heard, Language, Setting, upstream

every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])

IMPATIENT = ProxyLimits(silence_seconds=0.1)
PATIENT = ProxyLimits(silence_seconds=2.0)
"""Enough for the beginning of an answer, also on a busy machine."""
ONE_CALL = Usage(calls=1)


def error_text(language: Language, heard: Heard) -> str:
    """The message, found where the provider itself would have put it."""
    return text_at(heard.json, *language.error_text)


@every_language
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.BAD_REQUEST),
        (401, ErrorClass.AUTH),
        (403, ErrorClass.AUTH),
        (429, ErrorClass.RATE_LIMIT),
        (500, ErrorClass.OVERLOADED),
        (529, ErrorClass.OVERLOADED),
    ],
)
def test_a_refusal_passes_through_and_is_a_call_without_tokens(
    language: Language, status: int, error: ErrorClass, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(language.wire, model.url(f"f{status}")) as line:
            heard = await line.ask(language, stream=True)
            assert heard.status == status
            assert "scripted server" in error_text(language, heard)
            trouble = line.endpoint.last_error
            assert trouble
            assert trouble.error == error
            assert "scripted server" in trouble.text
            assert trouble.retry_after_seconds == (1.0 if status in (429, 529) else 0.0)
            assert line.endpoint.usage == ONE_CALL

    asyncio.run(story())


def test_a_call_that_goes_well_makes_an_earlier_error_the_past(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("f429x1", "past")) as line:
            statuses, errors = [], []
            for _ in range(2):
                statuses.append((await line.ask(ANTHROPIC)).status)
                errors.append(line.endpoint.last_error and line.endpoint.last_error.error)
            assert (statuses, errors) == ([429, 200], [ErrorClass.RATE_LIMIT, None])
            assert line.endpoint.usage == ANTHROPIC.usage + ONE_CALL

    asyncio.run(story())


@every_language
@both_ways
def test_a_model_that_hangs_is_given_up_with_a_504(
    language: Language, stream: bool, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with replace(setting, limits=IMPATIENT).line(language.wire, model.url("hang")) as line:
            heard = await line.ask(language, stream)
            assert heard.status == 504
            assert "did not answer in time" in error_text(language, heard)
            assert line.endpoint.last_error
            assert line.endpoint.last_error.error == ErrorClass.NETWORK
            assert line.endpoint.usage == ONE_CALL

    asyncio.run(story())


@every_language
@both_ways
def test_an_answer_that_breaks_off_breaks_off_for_the_program_too(
    language: Language, stream: bool, model: RunningModel, setting: Setting
) -> None:
    asyncio.run(broken_off(language, stream, setting, model.url("drop")))


@pytest.mark.slow
def test_an_answer_that_never_goes_on_breaks_off_for_the_program_too(
    model: RunningModel, setting: Setting
) -> None:
    async def one(number: int, language: Language, stream: bool) -> None:
        folder = setting.folder / str(number)
        folder.mkdir()
        await broken_off(
            language, stream, replace(setting, limits=PATIENT, folder=folder), model.url("hangmid")
        )

    async def all_at_once() -> None:
        ways = enumerate(product(LANGUAGES.values(), (False, True)))
        await asyncio.gather(*(one(number, *way) for number, way in ways))

    asyncio.run(all_at_once())


async def broken_off(language: Language, stream: bool, setting: Setting, url: str) -> None:
    async with setting.line(language.wire, url) as line:
        with pytest.raises(ClientError):
            await line.ask(language, stream)
        trouble = line.endpoint.last_error
        assert trouble
        assert trouble.error == ErrorClass.NETWORK
        assert line.endpoint.calls == 1
        assert [entry["status"] for entry in line.entries()] == [200]


@every_language
@both_ways
@pytest.mark.parametrize(("fault", "body"), [("garbage", GARBAGE), ("empty", b"")])
def test_an_answer_that_makes_no_sense_passes_through_and_is_the_models_error(
    language: Language, stream: bool, fault: str, body: bytes, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(language.wire, model.url(fault)) as line:
            heard = await line.ask(language, stream)
            assert (heard.status, heard.body) == (200, body)
            assert line.endpoint.last_error
            assert line.endpoint.last_error.error == ErrorClass.MODEL
            assert line.endpoint.usage == ONE_CALL

    asyncio.run(story())


@every_language
def test_a_model_that_cannot_be_reached_is_a_502(language: Language, setting: Setting) -> None:
    async def story() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and nobody listens
            async with setting.line(language.wire, f"http://127.0.0.1:{taken.getsockname()[1]}") as line:
                heard = await line.ask(language)
                assert heard.status == 502
                assert error_text(language, heard).endswith("cannot be reached: connection refused")
                assert line.endpoint.last_error
                assert line.endpoint.last_error.error == ErrorClass.NETWORK

    asyncio.run(story())


def test_a_host_that_does_not_take_the_connection_is_given_up_with_a_504(setting: Setting) -> None:
    async def story() -> None:
        hasty = replace(setting, limits=ProxyLimits(connect_seconds=0.1))
        with ExitStack() as held:
            full = held.enter_context(socket.socket())
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            for _ in range(3):  # one is taken; while nobody accepts it, the kernel lets the others wait
                waiting = held.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(full.getsockname())
            async with hasty.line(Wire.OPENAI, f"http://127.0.0.1:{full.getsockname()[1]}") as line:
                assert (await line.ask(CHAT)).status == 504
                assert line.endpoint.last_error
                assert line.endpoint.last_error.error == ErrorClass.NETWORK

    asyncio.run(story())


def test_a_transcript_that_cannot_be_written_does_not_spoil_the_answer(
    model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        (setting.folder / "transcript.ndjson").mkdir()
        async with setting.line(Wire.OPENAI, model.url("say")) as line:
            for _ in range(2):
                assert (await line.ask(CHAT)).status == 200
            assert line.endpoint.calls == 2

    asyncio.run(story())


def test_a_server_that_does_not_speak_http_is_a_502(setting: Setting) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.invalid ESMTP\r\n")
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            async with setting.line(Wire.OPENAI, f"http://127.0.0.1:{port}") as line:
                assert (await line.ask(CHAT)).status == 502

    asyncio.run(story())


@pytest.mark.parametrize(
    ("path", "stream", "error"),
    [
        (
            "/v1/messages",
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n',
            ErrorClass.OVERLOADED,
        ),
        (
            "/v1/responses",
            b'data: {"type":"response.failed","response":{"status":"failed",'
            b'"error":{"code":"context_length_exceeded","message":"too long"}}}\n\n',
            ErrorClass.CONTEXT,
        ),
        (
            "/v1/chat/completions",
            b'data: {"error":{"code":"insufficient_quota","message":"pay first"}}\n\n',
            ErrorClass.QUOTA,
        ),
        ("/api/chat", b'data: {"error":"model runner has stopped"}\n\n', ErrorClass.MODEL),
        ("/api/chat", b'data: {"error":"no field user_login in message 403"}\n\n', ErrorClass.MODEL),
        ("/api/chat", b'data: {"error":"rate limit reached"}\n\n', ErrorClass.RATE_LIMIT),
        (
            "/v1/messages",
            b'data: {"type":"error","error":{"type":"invalid_request_error",'
            b'"message":"messages.403.content: tool `user_login` was denied: connection closed"}}\n\n',
            ErrorClass.BAD_REQUEST,
        ),
        (
            "/v1/responses",
            b'data: {"type":"error","code":"rate_limit_exceeded","message":"billed per 1 min: login"}\n\n',
            ErrorClass.RATE_LIMIT,
        ),
        (
            "/v1/chat/completions",
            b'data: {"error":{"code":502,"message":"login.example.org timed out"}}\n\n',
            ErrorClass.OVERLOADED,
        ),
        ("/v1/messages", b'data: {"type":"message_start","message":{}}\n\n', ErrorClass.NETWORK),
        ("/v1/messages", b'data: {"type":"message_st\n\n', ErrorClass.MODEL),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_told_apart(
    path: str, stream: bytes, error: ErrorClass, setting: Setting
) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=stream, headers={"Content-Type": "text/event-stream"})

    async def story() -> None:
        async with upstream(answer) as url, setting.line(Wire.OLLAMA, url) as line:
            assert (await line.send("POST", path, body=b"{}")).body == stream
            assert line.endpoint.last_error
            assert line.endpoint.last_error.error == error

    asyncio.run(story())


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ErrorClass.CONTEXT),
        (400, "Your credit balance is too low to access the API", ErrorClass.QUOTA),
        (400, "API key not valid. Please pass a valid API key.", ErrorClass.AUTH),
        (400, "messages.403.content.0: text content blocks must be non-empty", ErrorClass.BAD_REQUEST),
        (400, "Invalid schema for function 'user_login'", ErrorClass.BAD_REQUEST),
        (422, "This model's maximum context length is 8192 tokens", ErrorClass.CONTEXT),
        (422, "Invalid schema for function 'billing'", ErrorClass.BAD_REQUEST),
        (500, "prompt is too long", ErrorClass.CONTEXT),
        (402, "", ErrorClass.QUOTA),
        (404, "no such model", ErrorClass.BAD_REQUEST),
        (413, "request_too_large", ErrorClass.CONTEXT),
        (429, '{"error":{"code":"insufficient_quota"}}', ErrorClass.QUOTA),
        (429, '{"error":{"type":"usage_limit_reached"}}', ErrorClass.QUOTA),
        (429, "rate_limit_error", ErrorClass.RATE_LIMIT),
        (429, "Quota exceeded for aiplatform.googleapis.com/requests_per_minute", ErrorClass.RATE_LIMIT),
        (503, "", ErrorClass.OVERLOADED),
        (408, "", ErrorClass.NETWORK),
    ],
)
def test_status_and_words_together_say_what_kind_of_error_it_is(
    status: int, text: str, error: ErrorClass
) -> None:
    assert of_status(status, text) == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("API Error: 403", ErrorClass.AUTH),
        ("Please run /login", ErrorClass.AUTH),
        ("Quota exceeded for today", ErrorClass.QUOTA),
        ("You have hit your usage limit", ErrorClass.QUOTA),
    ],
)
def test_the_message_of_an_agent_may_say_it_in_looser_words(text: str, error: ErrorClass) -> None:
    assert of_text(text) == error


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "12"}, {}, 12.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, {}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, {}, 60.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, {}, 0.0),
        ({"retry-after": "soon"}, {}, 0.0),
        ({}, {"error": {"details": [{"retryDelay": "34s"}]}}, 34.0),
    ],
)
def test_when_to_try_again_is_read_wherever_it_stands(
    headers: dict[str, str], body: object, seconds: float
) -> None:
    assert trouble_of_answer(429, headers, json.dumps(body).encode(), now=40.0).retry_after_seconds == seconds


def test_a_missing_credential_is_named_and_nothing_is_sent(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        bare = replace(setting, environ={})
        async with bare.line(Wire.ANTHROPIC, model.url("say", "never-asked")) as line:
            heard = await line.ask(ANTHROPIC)
            assert heard.status == 401
            assert "SPECIAL_KEY is not set" in error_text(ANTHROPIC, heard)
            assert line.endpoint.calls == 0
            assert line.endpoint.last_error
            assert line.endpoint.last_error.error == ErrorClass.AUTH

    asyncio.run(story())
    assert model.seen("never-asked") == []


def test_a_providers_usual_key_goes_to_that_provider_only(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        usual = replace(setting, environ={"OPENAI_API_KEY": KEY}, key_env="")
        async with usual.line(Wire.OPENAI, model.url("say", "elsewhere")) as line:
            assert (await line.ask(CHAT)).status == 200
        async with usual.line(Wire.OPENAI, model.url("f401")) as line:
            await line.ask(CHAT)
            assert line.endpoint.last_error
            assert "no key was sent" in line.endpoint.last_error.text

    asyncio.run(story())
    (seen,) = model.calls("elsewhere")
    assert "authorization" not in seen.headers


def test_a_renewed_credential_is_used_at_the_next_call(model: RunningModel, setting: Setting) -> None:
    environ = {"SPECIAL_KEY": "the-first-key"}

    async def story() -> None:
        async with replace(setting, environ=environ).line(
            Wire.ANTHROPIC, model.url("say", "renewed")
        ) as line:
            await line.ask(ANTHROPIC)
            environ["SPECIAL_KEY"] = "the-second-key"
            said = {"messages": [{"role": "user", "content": "I was told the-second-key"}]}
            await line.send("POST", "/v1/messages", body=json.dumps(said).encode())
            assert "the-second-key" not in line.transcript.read_text()

    asyncio.run(story())
    assert [seen.headers["x-api-key"] for seen in model.calls("renewed")] == [
        "the-first-key",
        "the-second-key",
    ]
