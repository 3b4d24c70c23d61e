"""Calls that go well: passed on as they come, counted exactly, with a credential no one else sees (D11)."""

import asyncio
import gzip
import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from interlock.agents.adapter import Wire
from interlock.model.usage import LOCAL, Usage
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, CHAT, KEY, KEY_ENV, LANGUAGES, OLLAMA, Language, Setting, upstream

every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def everything_kept(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@every_language
@both_ways
def test_an_answer_comes_through_and_its_tokens_are_counted_from_the_wire(
    language: Language, stream: bool, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(language.wire, model.url("say")) as line:
            heard = await line.ask(language, stream)
            assert heard.status == 200
            assert line.endpoint.usage == language.usage
            assert line.endpoint.last_error is None
            await line.ask(language, stream)
            assert line.endpoint.usage == language.usage + language.usage
            assert line.endpoint.calls == 2
            assert [entry["answer"] for entry in line.entries()] == ["All done.", "All done."]

    asyncio.run(story())


@every_language
@both_ways
def test_the_credential_arrives_upstream_and_is_nowhere_else(
    language: Language,
    stream: bool,
    model: RunningModel,
    setting: Setting,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    instance = f"credential-{language.path}-{stream}".replace("/", "-").replace(":", "-")

    async def story() -> tuple[str, bytes, str]:
        async with setting.line(language.wire, model.url("say", instance)) as line:
            heard = await line.ask(language, stream)
            return line.endpoint.token, heard.body, f"{heard.headers}{line.endpoint!r}"

    token, body, said = asyncio.run(story())
    (seen,) = model.calls(instance)
    assert seen.headers[language.key_header].removeprefix("Bearer ") == KEY
    assert token not in f"{seen.headers}{seen.query}{seen.body}"
    assert KEY not in body.decode()
    assert KEY not in said
    assert KEY not in caplog.text
    assert KEY not in everything_kept(setting.folder)
    assert token not in everything_kept(setting.folder)


@every_language
def test_the_token_opens_the_endpoint_wherever_a_program_puts_its_key(
    language: Language, model: RunningModel, setting: Setting
) -> None:
    instance = f"wherever-{language.path}".replace("/", "-").replace(":", "-")

    async def story() -> None:
        async with setting.line(language.wire, model.url("say", instance)) as line:
            token = line.endpoint.token
            for headers in (
                {"x-api-key": token},
                {"Authorization": f"Bearer {token}"},
                {"x-goog-api-key": token},
            ):
                assert (await line.ask(language, headers=headers)).status == 200
            path, body = language.asked(stream=False)
            heard = await line.send("POST", f"{path}?key={token}&alt=json", {}, json.dumps(body).encode())
            assert heard.status == 200

    asyncio.run(story())
    assert [dict(seen.query) for seen in model.calls(instance)] == [{}, {}, {}, {"alt": "json"}]


@pytest.mark.parametrize("prefix", ["", "/v1", "/v1/"])
def test_an_address_may_end_in_a_version_or_not(prefix: str, model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, model.url("say") + prefix) as line:
            assert (await line.ask(CHAT)).status == 200
        async with setting.line(Wire.OLLAMA, model.url("say") + prefix) as line:
            assert (await line.ask(OLLAMA)).status == 200
            assert (await line.ask(CHAT)).status == 200

    asyncio.run(story())


@pytest.mark.slow
def test_twenty_streams_at_once_are_counted_once_each(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say")) as line:
            heard = await asyncio.gather(*(line.ask(ANTHROPIC, stream=True) for _ in range(20)))
            assert {answer.body for answer in heard} == {heard[0].body}
            usage = ANTHROPIC.usage
            assert line.endpoint.usage == Usage(
                20 * usage.input_tokens, 20 * usage.output_tokens, 20 * usage.cached_tokens, 20
            ).priced(0.0, LOCAL)
            assert len(line.entries()) == 20

    asyncio.run(story())


def test_a_piece_reaches_the_program_before_the_next_one_exists(setting: Setting) -> None:
    """The server goes on only after the program has read: if anybody waited for more, it would never end."""

    async def story() -> None:
        was_read = asyncio.Event()

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n')
            await was_read.wait()
            await response.write(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
            return response

        async with upstream(answer) as url, setting.line(Wire.OPENAI, url) as line:
            headers = {"x-api-key": line.endpoint.token}
            place = "http://127.0.0.1/v1/chat/completions"
            async with line.session.post(place, json={"stream": True}, headers=headers) as heard:
                assert b"one" in await heard.content.readany()
                was_read.set()
                assert b"stop" in await heard.content.read()

    asyncio.run(story())


def test_a_program_that_goes_away_takes_its_call_with_it(setting: Setting) -> None:
    async def story() -> None:
        ended = asyncio.Event()

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b": still thinking\n\n")
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return response

        async with upstream(answer) as url, setting.line(Wire.OPENAI, url) as line:
            headers = {"x-api-key": line.endpoint.token}
            async with line.session.post(
                "http://127.0.0.1/v1/responses", json={"stream": True}, headers=headers
            ) as heard:
                await heard.content.readany()
                heard.close()
            await ended.wait()
            assert line.endpoint.last_error is None
            assert [entry["note"] for entry in line.entries()] == ["the program went away"]

    asyncio.run(story())


def test_a_stream_that_says_nothing_of_its_tokens_is_asked_to(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, model.url("say", "asked-to")) as line:
            await line.ask(CHAT, stream=True)

    asyncio.run(story())
    (seen,) = model.calls("asked-to")
    assert json.loads(seen.body)["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("wire", "method", "path"),
    [
        (Wire.ANTHROPIC, "GET", "/v1/models"),
        (Wire.ANTHROPIC, "POST", "/v1/messages/count_tokens"),
        (Wire.OPENAI, "GET", "/v1/models/scripted"),
        (Wire.GEMINI, "GET", "/v1beta/models"),
        (Wire.GEMINI, "POST", "/v1beta/models/gemini-x:countTokens"),
        (Wire.OLLAMA, "GET", "/api/tags"),
        (Wire.OLLAMA, "GET", "/api/version"),
        (Wire.OLLAMA, "POST", "/api/show"),
    ],
)
def test_questions_around_the_model_are_answered_and_cost_nothing(
    wire: Wire, method: str, path: str, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(wire, model.url("say")) as line:
            assert (await line.send(method, path, body=b"{}" if method == "POST" else b"")).status == 200
            assert line.endpoint.usage == Usage()

    asyncio.run(story())


def test_a_compressed_answer_is_counted_too(setting: Setting) -> None:
    whole = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7}}'

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "identity"
        packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        return web.Response(body=gzip.compress(whole), headers=packed)

    async def story() -> None:
        async with upstream(answer) as url, setting.line(Wire.OPENAI, url) as line:
            assert (await line.ask(CHAT)).body == whole
            assert line.endpoint.usage.input_tokens == 7

    asyncio.run(story())


def test_a_program_that_waits_for_leave_to_send_its_request_gets_it(
    model: RunningModel, setting: Setting
) -> None:
    """curl does so with everything longer than a kilobyte or a megabyte, by its version."""

    async def story() -> None:
        async with setting.line(CHAT.wire, model.url("basic")) as line:
            headers = {"x-api-key": line.endpoint.token, "Expect": "100-continue"}
            assert (await line.ask(CHAT, headers=headers)).status == 200

    asyncio.run(story())


def test_a_compressed_request_arrives_unpacked(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, model.url("say")) as line:
            headers = {"x-api-key": line.endpoint.token, "Content-Encoding": "gzip"}
            body = gzip.compress(json.dumps(CHAT.body).encode())
            assert (await line.send("POST", CHAT.path, headers, body)).status == 200

    asyncio.run(story())


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_server_that_repeats_the_credential_does_not_tell_the_program(cut: int, setting: Setting) -> None:
    said = f'{{"error":{{"message":"I do not know {KEY}"}}}}'.encode()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(status=401, headers={"x-echo": KEY})
        await response.prepare(request)
        for start in range(0, len(said), cut):
            await response.write(said[start : start + cut])
            await asyncio.sleep(0)
        return response

    async def story() -> None:
        async with upstream(answer) as url, setting.line(Wire.OPENAI, url) as line:
            heard = await line.ask(CHAT)
            assert len(heard.body) == len(said)
            assert KEY not in f"{heard.headers}{heard.body!r}{line.endpoint.last_error}"
            assert KEY not in line.transcript.read_text()

    asyncio.run(story())


def test_a_redirect_is_not_followed_because_it_would_take_the_credential_along(setting: Setting) -> None:
    came: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        came.append(request.path)
        return web.Response(status=307, headers={"Location": "http://127.0.0.2:9/elsewhere"})

    async def story() -> None:
        async with upstream(answer) as url, setting.line(Wire.OPENAI, url) as line:
            place, headers = "http://127.0.0.1/v1/responses", {"x-api-key": line.endpoint.token}
            async with line.session.post(place, headers=headers, allow_redirects=False) as heard:
                assert heard.status == 307
            assert line.endpoint.last_error

    asyncio.run(story())
    assert came == ["/v1/responses"]


def test_the_way_out_goes_through_the_proxy_this_machine_names(setting: Setting) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request.raw_path)
        return web.json_response({"choices": [{"finish_reason": "stop"}]})

    async def story() -> None:
        async with upstream(answer) as url:
            environ = {KEY_ENV: KEY, "HTTP_PROXY": url, "NO_PROXY": "model.invalid"}
            for host in ("far.invalid", "model.invalid"):
                there = replace(setting, environ=environ)
                async with there.line(Wire.OPENAI, f"http://{host}") as line:
                    await line.ask(CHAT)

    asyncio.run(story())
    assert asked == ["http://far.invalid/v1/chat/completions"]


@pytest.mark.parametrize(("key_env", "status"), [("", 200), (KEY_ENV, 401)])
def test_ollama_needs_no_token_unless_there_is_a_credential_to_guard(
    key_env: str, status: int, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with replace(setting, key_env=key_env).line(Wire.OLLAMA, model.url("say")) as line:
            assert (await line.ask(OLLAMA, headers={})).status == status
            assert (await line.ask(OLLAMA, headers={"x-api-key": "another"})).status == 401

    asyncio.run(story())
