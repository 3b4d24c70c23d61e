"""The scripted model server: five protocols, the same answer each time, sums that hold, every way to fail."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.agents.model_server import RunningModel, running_model
from tests.agents.model_server.conversation import Json
from tests.agents.spoken import CLIENTS, Answer, events

ROOT = Path(__file__).resolve().parents[2]
PROTOCOLS = sorted(CLIENTS)
STATUSES = (400, 401, 429, 500, 529)


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model(pause_seconds=0.001) as running:
        yield running


async def _post(url: str, body: Json, key: str = "k") -> tuple[int, str, str]:
    headers = {"authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers=headers) as response,
    ):
        return response.status, response.content_type, await response.text()


def _ask(base: str, protocol: str, step: int, stream: bool) -> Answer:
    client = CLIENTS[protocol]
    url = base + (client.stream_path if stream else client.path)
    status, _, text = asyncio.run(_post(url, client.body(step, stream)))
    assert status == 200, text
    return client.streamed(text) if stream else client.whole(json.loads(text))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_basic_script_writes_runs_and_says_so(model: RunningModel, protocol: str, stream: bool) -> None:
    write, run, say = (_ask(model.url(), protocol, step, stream) for step in range(3))

    assert write.calls == [("write", {"path": "hello.txt", "content": "hello from the script\n"})]
    assert run.calls == [("bash", {"command": "echo ran > ran.txt && echo command-output"})]
    assert (say.calls, say.text) == ([], "All done.")
    sums = [sum(counts) for counts in zip(write.usage, run.usage, say.usage, strict=True)]
    assert sums == [3300, 150, 30]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_conversation_gets_the_same_bytes(model: RunningModel, protocol: str) -> None:
    client = CLIENTS[protocol]
    url = model.url() + client.stream_path
    assert asyncio.run(_post(url, client.body(1, True))) == asyncio.run(_post(url, client.body(1, True)))


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refusal_has_the_protocols_own_body(model: RunningModel, protocol: str, status: int) -> None:
    client = CLIENTS[protocol]
    got, content_type, text = asyncio.run(
        _post(model.url(f"f{status}") + client.stream_path, client.body(0, True))
    )
    assert (got, content_type) == (status, "application/json")
    error = json.loads(text)["error"]
    assert "scripted server" in (error if protocol == "ollama" else error["message"])


def test_two_refusals_then_work(model: RunningModel) -> None:
    client = CLIENTS["anthropic"]
    url = model.url("f429x2", "one") + client.path
    statuses = [asyncio.run(_post(url, client.body(0, False)))[0] for _ in range(4)]
    assert statuses == [429, 429, 200, 200]
    other = model.url("f429x2", "two") + client.path
    assert asyncio.run(_post(other, client.body(0, False)))[0] == 429


def test_a_title_neither_fails_nor_counts(model: RunningModel) -> None:
    client = CLIENTS["openai-chat"]
    url = model.url("f429x1", "one") + client.path
    title = {"model": "m", "messages": [{"role": "system", "content": "You are a title generator."}]}
    bodies = [title, client.body(0, False), title, client.body(0, False)]
    assert [asyncio.run(_post(url, body))[0] for body in bodies] == [200, 429, 200, 200]
    assert [seen.beside_the_work for seen in model.seen("one")] == [True, False, True, False]
    assert len(model.calls("one")) == 2


def test_a_fault_can_wait_for_its_step(model: RunningModel) -> None:
    client = CLIENTS["openai-chat"]
    url = model.url("f500@1") + client.path
    assert [asyncio.run(_post(url, client.body(step, False)))[0] for step in range(3)] == [200, 500, 200]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_dropped_connection_ends_in_the_middle(model: RunningModel, protocol: str, stream: bool) -> None:
    client = CLIENTS[protocol]
    url = model.url("drop") + (client.stream_path if stream else client.path)

    async def read() -> bytes:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json=client.body(0, stream)) as response,
        ):
            assert response.status == 200
            first = await response.content.readany()
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.read()
            return first

    assert asyncio.run(read())


@pytest.mark.parametrize("fault", ["hang", "hangmid"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hanging_answer_ends_only_with_the_server(protocol: str, fault: str) -> None:
    client = CLIENTS[protocol]

    async def ask() -> bool:
        with running_model() as model:
            waiting = asyncio.create_task(
                _read_all(model.url(fault) + client.stream_path, client.body(0, True))
            )
            await asyncio.to_thread(model.wait_for_calls, fault)
            others = await _post(model.url() + client.stream_path, client.body(0, True))
            assert others[0] == 200
            still_waiting = not waiting.done()
            await asyncio.to_thread(model.close)
            await waiting
            return still_waiting

    assert asyncio.run(ask())


async def _read_all(url: str, body: Json) -> None:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.post(url, json=body) as response:
                await response.read()
        except aiohttp.ClientError:
            return


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_garbage_and_nothing_at_all_come_with_a_good_status(model: RunningModel, protocol: str) -> None:
    client = CLIENTS[protocol]
    body = client.body(0, True)
    status, content_type, text = asyncio.run(_post(model.url("garbage") + client.stream_path, body))
    assert (status, content_type) == (200, "text/html")
    assert "not a model" in text
    status, _, text = asyncio.run(_post(model.url("empty") + client.stream_path, body))
    assert (status, text) == (200, "")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_slow_answer_is_whole(model: RunningModel, protocol: str) -> None:
    assert _ask(model.url("slow"), protocol, 2, stream=True).text == "All done."


def test_a_loop_never_comes_to_an_end(model: RunningModel) -> None:
    assert _ask(model.url("loop"), "openai-chat", 40, stream=True).calls == [
        ("bash", {"command": "echo around 40"})
    ]


def test_a_chat_stream_tells_usage_only_when_asked(model: RunningModel) -> None:
    body = CLIENTS["openai-chat"].body(0, True)
    del body["stream_options"]
    _, _, text = asyncio.run(_post(model.url() + "/v1/chat/completions", body))
    assert not any("usage" in chunk for chunk in events(text))


def test_a_mistyped_scenario_is_refused(model: RunningModel) -> None:
    client = CLIENTS["gemini"]
    status, _, text = asyncio.run(_post(model.url("baisc") + client.path, client.body(0, False)))
    assert status == 400
    assert "baisc" in text


def test_each_instance_has_its_own_log_with_the_credential(model: RunningModel) -> None:
    client = CLIENTS["openai-chat"]
    for instance in ("one", "two", "one"):
        asyncio.run(
            _post(model.url("basic", instance) + client.path, client.body(0, False), key=f"key-{instance}")
        )
    assert [seen.headers["authorization"] for seen in model.calls("one")] == ["Bearer key-one"] * 2
    assert [seen.protocol for seen in model.calls("two")] == ["openai-chat"]


def test_a_test_may_bring_a_script(model: RunningModel) -> None:
    model.add_script("mine", ({"op": "say", "text": "Mine."},))
    assert _ask(model.url("mine"), "ollama", 0, stream=False).text == "Mine."


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/v1/models", "data"),
        ("/v1/models/scripted", "id"),
        ("/v1beta/models", "models"),
        ("/v1beta/models/m", "inputTokenLimit"),
        ("/api/version", "version"),
        ("/api/tags", "models"),
    ],
)
def test_questions_around_the_model_are_answered(model: RunningModel, path: str, key: str) -> None:
    with urllib.request.urlopen(model.url() + path) as response:  # noqa: S310 - our own loopback server
        assert key in json.load(response)
    assert model.calls("basic") == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/messages/count_tokens", {"input_tokens": 1000}),
        ("/v1beta/models/m:countTokens", {"totalTokens": 1000}),
    ],
)
def test_tokens_are_counted_without_a_call(model: RunningModel, path: str, expected: Json) -> None:
    status, _, text = asyncio.run(_post(model.url() + path, {"messages": []}))
    assert (status, json.loads(text)) == (200, expected)


@pytest.mark.slow
def test_it_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "tests.agents.model_server"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        assert _ask(url, "anthropic", 2, stream=True).text == "All done."
        log_url = url.replace("/s/basic", "/log/basic")
        with urllib.request.urlopen(log_url) as response:  # noqa: S310 - our own loopback server
            assert [one["protocol"] for one in json.load(response)] == ["anthropic"]
        program.terminate()
    assert program.returncode == 0
