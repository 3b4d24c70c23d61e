"""What is not let in: other people's requests, other paths, what two servers could read differently."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from interlock.agents.adapter import Wire
from interlock.model.errors import UsageError
from interlock.proxy import EndpointOrder, ProxyLimits
from interlock.proxy.json_values import text_at
from interlock.proxy.request_check import NotAllowed, RequestCheck, joined, key_variable, read_body
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, CHAT, LANGUAGES, Language, Line, Setting, upstream

TOKEN = "<the token>"  # noqa: S105 - stands for the token in the table below


async def raw(line: Line, head: str) -> int:
    """The status that answers a request written by hand."""
    reader, writer = await asyncio.open_unix_connection(line.endpoint.socket)
    writer.write(head.replace(TOKEN, line.endpoint.token).replace("\n", "\r\n").encode())
    status = (await reader.readline()).split()[1]
    writer.close()
    return int(status)


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
@pytest.mark.parametrize(
    "headers",
    [{"x-api-key": "wrong"}, {"Authorization": "Bearer wrong"}, {"Authorization": "wrong"}],
    ids=str,
)
def test_a_wrong_token_is_refused_and_nothing_is_sent(
    language: Language, headers: dict[str, str], model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(language.wire, model.url("say", "not-ours")) as line:
            heard = await line.ask(language, headers=headers)
            assert heard.status == 401
            assert text_at(heard.json, *language.error_text)
            assert line.endpoint.calls == 0

    asyncio.run(story())
    assert model.seen("not-ours") == []


def test_no_token_is_refused_too(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say")) as line:
            assert (await line.ask(ANTHROPIC, headers={})).status == 401

    asyncio.run(story())


@pytest.mark.parametrize(
    ("wire", "method", "path"),
    [
        (Wire.ANTHROPIC, "GET", "/v1/messages"),
        (Wire.ANTHROPIC, "POST", "/v1/files"),
        (Wire.ANTHROPIC, "GET", "/v1/organizations/api_keys"),
        (Wire.ANTHROPIC, "POST", "/v1/messages/batches"),
        (Wire.ANTHROPIC, "POST", "/v1/chat/completions"),
        (Wire.OPENAI, "POST", "/v1/messages"),
        (Wire.OPENAI, "POST", "/v1/fine_tuning/jobs"),
        (Wire.OPENAI, "DELETE", "/v1/models/x"),
        (Wire.OPENAI, "POST", "/v1/responses/"),
        (Wire.GEMINI, "POST", "/v1beta/models/x:predict"),
        (Wire.GEMINI, "GET", "/v1beta/files"),
        (Wire.OLLAMA, "POST", "/api/pull"),
        (Wire.OLLAMA, "DELETE", "/api/delete"),
        (Wire.OLLAMA, "POST", "/api/blobs/x"),
    ],
)
def test_what_is_no_call_of_a_model_does_not_exist(
    wire: Wire, method: str, path: str, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(wire, model.url("say", "no-model")) as line:
            assert (await line.send(method, path)).status == 404

    asyncio.run(story())
    assert model.seen("no-model") == []


@pytest.mark.parametrize(
    "head",
    [
        f"GET /v1/models/.. HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models/../files HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models/%2e%2e/files HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models%2f..%2ffiles HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1//models HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET //127.0.0.2/v1/models HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models\\..\\x HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models#x HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET http://127.0.0.2/v1/models HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET http://127.0.0.1/v1/models HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"CONNECT 127.0.0.2:80 HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"OPTIONS * HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models HTTP/1.1\nHost: attacker.invalid\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models HTTP/1.1\nHost: 127.0.0.1.attacker.invalid\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models HTTP/1.1\nHost: 127.0.0.1@attacker.invalid\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models HTTP/1.1\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models HTTP/1.1\nHost: 127.0.0.1\nHost: attacker.invalid\nx-api-key: {TOKEN}\n\n",
        f"GET /v1/models?{'x' * 5000} HTTP/1.1\nHost: 127.0.0.1\nx-api-key: {TOKEN}\n\n",
    ],
)
def test_a_target_that_is_not_plainly_a_known_path_is_refused(
    head: str, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say", "not-plain")) as line:
            assert await raw(line, head) in (400, 403, 404)

    asyncio.run(story())
    assert model.seen("not-plain") == []


@pytest.mark.parametrize("hosts", [[], ["127.0.0.1", "127.0.0.1"], ["127.0.0.1", "attacker.invalid"]])
def test_one_host_is_named_and_no_more_whatever_the_web_server_lets_through(hosts: list[str]) -> None:
    check = RequestCheck(EndpointOrder("a", Wire.OPENAI, "", "", Path("t")), TOKEN)
    headers = [("x-api-key", TOKEN), *(("Host", host) for host in hosts)]
    with pytest.raises(NotAllowed) as caught:
        check.admit("GET", "/v1/models", headers)
    assert caught.value.status == 403


def test_a_plain_request_written_by_hand_is_let_in(model: RunningModel, setting: Setting) -> None:
    """The table above would hold of a check that refuses all."""

    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say")) as line:
            head = f"GET /v1/models?limit=1 HTTP/1.1\nHost: localhost:99\nx-api-key: {TOKEN}\n\n"
            assert await raw(line, head) == 200

    asyncio.run(story())


def test_a_program_that_waits_for_leave_to_send_its_body_gets_it(
    model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, model.url("say")) as line:
            body = json.dumps(CHAT.body).encode()
            reader, writer = await asyncio.open_unix_connection(line.endpoint.socket)
            head = f"POST {CHAT.path} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {line.endpoint.token}\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
            assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n")
            writer.write(body)
            assert b"200 OK" in await reader.readline()
            writer.close()

    asyncio.run(story())


KNOWN = (
    *("accept", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta", "x-goog-api-client"),
    *(
        "x-stainless-retry-count",
        "x-claude-code-session-id",
        "x-codex-turn-metadata",
        "session-id",
        "originator",
    ),
    *("thread-id", "x-client-request-id", "x-initiator", "x-session-affinity", "x-app", "idempotency-key"),
)
NOT_KNOWN = (
    *("cookie", "api-key", "proxy-authorization", "x-forwarded-for", "x-forwarded-host", "forwarded", "via"),
    *("openai-organization", "openai-project", "x-goog-user-project", "anthropic-workspace-id", "x-made-up"),
    *(
        "x-http-method-override",
        "x-original-url",
        "x-amz-security-token",
        "chatgpt-account-id",
        "http-referer",
    ),
)


def test_known_headers_and_fields_travel_and_no_others(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say", "headers")) as line:
            headers = {
                "x-api-key": line.endpoint.token,
                "Connection": "keep-alive, x-stainless-here",
                "x-stainless-here": "some value",
                "Content-Type": "text/plain; charset=utf-16",
                **dict.fromkeys((*KNOWN, *NOT_KNOWN), "some value"),
            }
            path = f"{ANTHROPIC.path}?beta=true&userProject=other&$httpMethod=DELETE&key=x"
            heard = await line.send("POST", path, headers, json.dumps(ANTHROPIC.body).encode())
            assert heard.status == 200

    asyncio.run(story())
    (seen,) = model.calls("headers")
    ours = {"host", "content-type", "content-length", "accept-encoding", "x-api-key"}
    assert set(seen.headers) == {*KNOWN, *ours}
    assert {seen.headers[name] for name in KNOWN} == {"some value"}
    assert seen.headers["content-type"] == "application/json"
    assert seen.query == {"beta": "true"}


def test_of_an_answer_known_headers_travel_and_none_that_names_the_account(setting: Setting) -> None:
    known = (
        "retry-after",
        "anthropic-ratelimit-requests-remaining",
        "x-ratelimit-limit-requests",
        "request-id",
    )
    others = ("set-cookie", "location", "anthropic-organization-id", "openai-organization", "x-made-up")

    async def answer(_request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"usage": {}}, headers=dict.fromkeys((*known, *others), "7"))

    async def story() -> None:
        async with upstream(answer) as url, setting.line(Wire.ANTHROPIC, url) as line:
            heard = await line.ask(ANTHROPIC)
            names = {name.lower() for name in heard.headers}
            assert names == {*known, "content-type", "content-length", "date", "server"}

    asyncio.run(story())


def test_what_is_sent_is_what_was_read(model: RunningModel, setting: Setting) -> None:
    """Of a key that stands twice in an object, two readers may take a different one."""

    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say", "twice")) as line:
            said = json.dumps(ANTHROPIC.body)[:-1] + ', "system": "one", "system": "two"}'
            assert (await line.send("POST", ANTHROPIC.path, body=said.encode("utf-16"))).status == 200

    asyncio.run(story())
    (seen,) = model.calls("twice")
    assert json.loads(seen.body) == {**ANTHROPIC.body, "system": "two"}
    assert seen.body.count("system") == 1


def test_a_request_that_is_too_large_is_refused(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        small = replace(setting, limits=ProxyLimits(request_bytes=1000))
        async with small.line(Wire.ANTHROPIC, model.url("say", "too-large")) as line:
            heard = await line.send("POST", "/v1/messages", body=b"x" * 1001)
            assert heard.status == 413
            assert text_at(heard.json, "error", "type") == "request_too_large"

    asyncio.run(story())
    assert model.seen("too-large") == []


@pytest.mark.parametrize("body", [b'{"a": [' + b"[]," * 700_000 + b"1]}", b'{"a": ' + b"9" * 4_000 + b"}"])
def test_a_request_that_takes_long_to_read_is_refused_unread(body: bytes) -> None:
    """30 MB of empty lists took a gigabyte and stopped the engine for seconds, as long numbers did."""
    check = RequestCheck(EndpointOrder("a", Wire.ANTHROPIC, "", "", Path("t")), TOKEN)
    asked = check.admit("POST", "/v1/messages", [("Host", "localhost"), ("x-api-key", TOKEN)])
    tracemalloc.start()
    try:
        with pytest.raises(NotAllowed):
            read_body(asked, body)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_what_one_attempt_has_under_way_is_bounded(model: RunningModel, setting: Setting) -> None:
    """Two hundred requests of 30 MB that do not end took all memory of the machine."""

    async def story() -> None:
        small = replace(setting, limits=ProxyLimits(held_bytes=1000))
        async with small.line(Wire.ANTHROPIC, model.url("say")) as line:
            reader, writer = await asyncio.open_unix_connection(line.endpoint.socket)
            writer.write(
                b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\n"
                b"X-Api-Key: %s\r\nContent-Length: 901\r\n\r\n" % line.endpoint.token.encode()
            )
            assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
            writer.write(b" " * 900)
            while (await line.ask(ANTHROPIC)).status == 200:
                pass  # until the proxy has read what the other one sent
            assert (await line.ask(ANTHROPIC)).status == 429
            writer.write(b"?")
            assert b" 400 " in await reader.readuntil(b"Bad Request")
            writer.close()
            assert (await line.ask(ANTHROPIC)).status == 200

    asyncio.run(story())


@pytest.mark.parametrize(
    ("upstream", "path", "url"),
    [
        ("https://h", "/v1/messages", "https://h/v1/messages"),
        ("https://h/v1", "/v1/messages", "https://h/v1/messages"),
        ("https://h/openai/v1", "/v1/chat/completions", "https://h/openai/v1/chat/completions"),
        ("https://h/v1beta/openai", "/v1/chat/completions", "https://h/v1beta/openai/chat/completions"),
        ("https://h/api/paas/v4", "/v1/chat/completions", "https://h/api/paas/v4/chat/completions"),
        ("https://h/prefix", "/v1/responses", "https://h/prefix/v1/responses"),
        ("http://h:11434/v1", "/api/chat", "http://h:11434/api/chat"),
        ("http://h:11434/api", "/api/chat", "http://h:11434/api/chat"),
        ("https://h/v1beta", "/v1beta/models/m:generateContent", "https://h/v1beta/models/m:generateContent"),
    ],
)
def test_a_base_url_and_a_path_meet_where_people_expect(upstream: str, path: str, url: str) -> None:
    assert joined(upstream, path, "") == url


@pytest.mark.parametrize(
    ("upstream", "key_env", "variable"),
    [
        ("", "", "OPENAI_API_KEY"),
        ("https://api.openai.com/v1", "", "OPENAI_API_KEY"),
        ("https://eu.api.openai.com/v1", "", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", "", ""),
        ("https://notapi.openai.com/v1", "", ""),
        ("https://api.openai.com.attacker.invalid/v1", "", ""),
        ("http://127.0.0.1:8000/v1", "", ""),
        ("https://other.invalid/v1", "OTHER_KEY", "OTHER_KEY"),
    ],
)
def test_which_variable_holds_the_credential(upstream: str, key_env: str, variable: str) -> None:
    assert key_variable(EndpointOrder("a", Wire.OPENAI, upstream, key_env, Path("t"))) == variable


@pytest.mark.parametrize(
    "upstream", ["ftp://h", "just-a-name", "https://user:hush@h", "http://", "https://h?x=1"]
)
def test_an_address_that_makes_no_sense_is_said_when_the_endpoint_opens(
    upstream: str, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, upstream):
            pass

    with pytest.raises(UsageError) as caught:
        asyncio.run(story())
    assert "hush" not in str(caught.value)
    assert caught.value.hint


def test_the_socket_is_the_owners_and_gone_afterwards(model: RunningModel, setting: Setting) -> None:
    async def story() -> Path:
        async with setting.line(Wire.OPENAI, model.url("say")) as line:
            path = Path(line.endpoint.socket)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            return path

    assert not asyncio.run(story()).exists()


def test_a_long_state_folder_has_its_sockets_where_paths_are_short(
    model: RunningModel, setting: Setting
) -> None:
    deep = setting.folder.joinpath(*["a-long-name" * 3] * 4)
    deep.mkdir(parents=True)

    async def story() -> Path:
        async with replace(setting, folder=deep).line(Wire.OPENAI, model.url("say")) as line:
            path = Path(line.endpoint.socket)
            assert len(os.fsencode(path)) <= 100
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert (await line.ask(CHAT)).status == 200
            return path.parent

    assert not asyncio.run(story()).exists()


def test_sockets_that_a_killed_process_left_are_removed(model: RunningModel, setting: Setting) -> None:
    folder = setting.folder / "s"
    folder.mkdir(mode=0o755)
    old, fresh, busy = (folder / f"m-{name}.sock" for name in ("old", "fresh", "busy"))
    with socket.socket(socket.AF_UNIX) as left, socket.socket(socket.AF_UNIX) as begun:
        left.bind(str(old))
        begun.bind(str(fresh))
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(str(busy))
        living.listen()
        for path in (old, busy):
            os.utime(path, (0, 0))

        async def story() -> None:
            async with setting.line(Wire.OPENAI, model.url("say")):
                assert not old.exists()
                assert fresh.exists(), "it may be one that is just being made"
                assert busy.exists()
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700

        asyncio.run(story())


@pytest.mark.slow
def test_naming_the_proxy_does_not_import_the_web_server() -> None:
    program = "import interlock.proxy, sys; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
