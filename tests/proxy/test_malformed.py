"""Broken requests: an answer or a closed connection, and not a word on stderr. A request that can be read as
HTTP has its answer in the provider's form."""

import asyncio
import json
import random
from collections.abc import Iterator

import pytest

from interlock.agents.adapter import Wire
from interlock.proxy.json_values import text_at
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, CHAT, Line, Setting

HEAD = (
    b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: %s\r\n"
    b"Content-Type: application/json\r\nConnection: close\r\n"
)
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"


def posted(body: bytes) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def nested(depth: int, inner: str = '"x"') -> bytes:
    text = '{"model":"m","messages":' + "[" * depth + inner + "]" * depth + "}"
    return text.encode()


BROKEN = {
    "binary": bytes(range(256)) * 8,
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    "no version": b"POST /v1/messages\r\n\r\n",
    "a bad version": b"POST /v1/messages HTTP/9.x\r\nHost: 127.0.0.1\r\n\r\n",
    "a bad method": b"P\x00ST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a huge header": HEAD + b"X-Big: " + b"a" * 100_000 + b"\r\n\r\n",
    "many headers": HEAD + b"".join(b"X-%d: a\r\n" % n for n in range(20_000)) + b"\r\n",
    "a huge target": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a header without a colon": HEAD + b"no colon here\r\n\r\n",
    "a control character": HEAD + b"X-A: a\x00b\r\n\r\n",
    "a header that is no text": HEAD + b"User-Agent: \xff\xfe\x80\r\nContent-Length: 2\r\n\r\n{}",
    "a body without a length": HEAD + b"\r\n" + b"{}",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n{}",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a length and chunks": CHUNKED + b"Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a bad chunk": CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a huge chunk": CHUNKED + b"\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "half a chunk": CHUNKED + b"\r\n50\r\n{",
    "half a head": HEAD,
    "half a body": HEAD + b"Content-Length: 500\r\n\r\n{",
    "a bad encoding": HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
    "an unknown encoding": HEAD + b"Transfer-Encoding: xyz\r\n\r\n{}",
    "an upgrade": HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}",
    "no JSON": posted(b"nonsense"),
    "JSON that is no object": posted(b"[1]"),
    "no UTF-8": posted(b'{"model": "\xff\xfe", "messages": "\x80"}'),
    "half a surrogate": posted(rb'{"model": "\ud800", "messages": [{"role": "user", "content": "\udfff"}]}'),
    "no number": posted(b'{"model": "m", "max_tokens": NaN, "messages": []}'),
    "a huge number": posted(b'{"model": "m", "max_tokens": 1e999, "messages": []}'),
    "a long number": posted(b'{"model": "m", "max_tokens": ' + b"9" * 10_000 + b"}"),
    "nesting": posted(nested(100_000)),
    "less nesting": posted(nested(900)),
    "nesting that Python just reads": posted(nested(400, '{"content": "y"}')),
    "a number that takes long": posted(b'{"model": "m", "max_tokens": ' + b"9" * 4_000 + b"}"),
    "very many values": posted(b'{"messages": [' + b"[]," * 200_000 + b"[]]}"),
    "a model that is no text": posted(b'{"model": {"a": []}, "messages": {}, "stream": 7, "tools": 5}'),
}


@pytest.fixture(autouse=True)
def silent(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A record that no handler takes is what Python prints on stderr."""
    yield
    assert [record.getMessage() for record in caplog.records] == []
    assert capfd.readouterr().err == ""


async def exchange(line: Line, request: bytes, ends: bool) -> bytes:
    """All that comes back when a program writes this and then only listens, or goes away."""
    reader, writer = await asyncio.open_unix_connection(line.endpoint.socket)
    try:
        writer.write(request.replace(b"%s", line.endpoint.token.encode()))
        if ends:
            writer.write_eof()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def check(answer: bytes) -> None:
    """Nothing, or an answer of the provider's."""
    if not answer:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if status == 400 and b"text/plain" in head:
        return  # it is no HTTP, and the library says so
    assert b"application/json" in head, answer[:500]
    if status >= 300:
        value = json.loads(body)
        assert text_at(value, "type") == "error", answer
        assert text_at(value, "error", "message"), answer
        assert b"Traceback" not in body


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_request_gets_an_answer_of_the_provider_or_none_and_spoils_nothing(
    name: str, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say")) as line:
            check(await exchange(line, BROKEN[name], ends=name.startswith("half a")))
            check(await exchange(line, BROKEN[name], ends=True))
            assert (await line.ask(ANTHROPIC)).status == 200

    asyncio.run(story())


def test_requests_in_a_row_are_answered_in_a_row(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        async with setting.line(Wire.OPENAI, model.url("say")) as line:
            body = json.dumps(CHAT.body).encode()
            good = (
                f"POST {CHAT.path} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {line.endpoint.token}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            ).encode() + body
            answers = await exchange(
                line, good + good.replace(b"\r\n", b"\r\nConnection: close\r\n", 1), ends=False
            )
            assert answers.count(b"HTTP/1.1 200 OK") == 2
            assert line.endpoint.calls == 2

    asyncio.run(story())


@pytest.mark.slow
def test_random_damage_to_a_good_request_does_no_more(model: RunningModel, setting: Setting) -> None:
    chance = random.Random(1)

    async def story() -> None:
        async with setting.line(Wire.ANTHROPIC, model.url("say")) as line:
            good = posted(json.dumps(ANTHROPIC.body).encode())
            for _ in range(200):
                damaged = bytearray(good)
                for _ in range(chance.randint(1, 8)):
                    at = chance.randrange(len(damaged))
                    damaged[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
                await exchange(line, bytes(damaged), ends=True)
            assert (await line.ask(ANTHROPIC)).status == 200

    asyncio.run(story())
