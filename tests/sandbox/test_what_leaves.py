"""A run whose agent asks its model for what the sandbox denies it: the provider's server as a way out."""

import json
from pathlib import Path

import pytest

from tests.agents.model_server import running_model
from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

AGENT = r"""
import json, os, socket, urllib.error, urllib.request

base, token = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
port = int(base.split(":")[2].split("/")[0])

def ask(**more):
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **more}
    headers = {"Authorization": "Bearer " + token, "OpenAI-Organization": "another"}
    request = urllib.request.Request(base + "/chat/completions", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()  # a call that is hung up on does not count as answered
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["error"]["message"]

def throw(garbage):
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(garbage)
        wire.shutdown(socket.SHUT_WR)
        while wire.recv(4096):
            pass

image = {"type": "image_url", "image_url": {"url": "https://far.invalid/?stolen"}}
print("image", *ask(messages=[{"role": "user", "content": [image]}]))
for garbage in (b"\x00" * 500, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\n", b"GET / HT"):
    throw(garbage)
look = {"type": "function", "function": {"name": "look"}}
print("search", *ask(tools=[look, {"type": "web_search"}]))
open("made.txt", "w").write("made")
"""
GRAPH = """\
version: 1
defaults: {{agent: curious, timeout: 60s, retries: 0}}
agents:
  curious: {{use: command, run: [python3, agent.py], wire: openai, url: "{url}/v1", key_env: SOME_KEY}}
tasks:
  ask: {{goal: Ask}}
"""


def test_the_provider_contacts_no_address_for_an_agent_and_garbage_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-worth-something")
    scratch = Scratch(tmp_path / "repository")
    with running_model() as model:
        scratch.write(agent__py=AGENT, **{"task-graph__yaml": GRAPH.format(url=model.url("say", "leaves"))})
        scratch.commit()
        said = scratch.interlock("run")
        (call,) = model.calls("leaves")
    assert "Traceback" not in said
    assert "aiohttp" not in said
    logs = scratch.root / ".git/interlock/logs/ask"
    heard = (logs / "1.log").read_text()
    assert "image 400 Interlock does not pass on a message that the provider would fetch" in heard
    assert "search 200" in heard
    assert [tool["type"] for tool in json.loads(call.body)["tools"]] == ["function"]
    assert "openai-organization" not in call.headers
    entries = [json.loads(line) for line in (logs / "1.model.jsonl").read_text().splitlines()]
    assert [(entry["note"], entry["removed"]) for entry in entries] == [
        ("not passed on", []),
        ("", ["web_search"]),
    ]
