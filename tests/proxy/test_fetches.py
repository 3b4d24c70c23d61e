"""Requests that make the provider's server contact others: refused, or passed on without the tool."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from interlock.model.outcome import ErrorClass
from interlock.run.proxy import ProxyLimits
from interlock.run.proxy.dig import dig, text_at
from interlock.run.proxy.fetches import Fetches, screened
from interlock.run.proxy.wires import Dialect
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, CHAT, GEMINI, OLLAMA, RESPONSES, Heard, Language, Setting

FAR = "https://far.invalid/?stolen"
FUNCTION = {
    "type": "function",
    "name": "look",
    "parameters": {"properties": {"image_url": {"type": "string"}}},
}
MADE = {"name": "look", "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}}}


def _part(part: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "See"}, part]}]}


def _slug(*words: str) -> str:
    """A name that can stand in an address."""
    return "-".join(words).replace(" ", "-").replace("'", "")


REFUSED: Mapping[str, tuple[Language, Mapping[str, object]]] = {
    "an image of a message": (ANTHROPIC, _part({"type": "image", "source": {"type": "url", "url": FAR}})),
    "a document in a tool's result": (
        ANTHROPIC,
        _part(
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "document", "source": {"type": "url", "url": FAR}}],
            }
        ),
    ),
    "only a web search": (ANTHROPIC, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    "a web fetch that must be used": (
        ANTHROPIC,
        {
            "tools": [MADE, {"type": "web_fetch_20250910", "name": "web_fetch"}],
            "tool_choice": {"type": "tool", "name": "web_fetch"},
        },
    ),
    "an image of a chat": (CHAT, _part({"type": "image_url", "image_url": {"url": f" {FAR}"}})),
    "a file of a chat": (CHAT, _part({"type": "file", "file": {"file_data": FAR}})),
    "an image of a response": (
        RESPONSES,
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": FAR}]}]},
    ),
    "a file of a response": (
        RESPONSES,
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": FAR}]}]},
    ),
    "an image in the output of a function": (
        RESPONSES,
        {"input": [{"type": "function_call_output", "output": [{"type": "input_image", "image_url": FAR}]}]},
    ),
    "a search that must be used": (
        RESPONSES,
        {"tools": [FUNCTION, {"type": "web_search"}], "tool_choice": {"type": "web_search"}},
    ),
    "a file of Gemini's": (
        GEMINI,
        {"contents": [{"role": "user", "parts": [{"fileData": {"fileUri": FAR}}, {"text": "See"}]}]},
    ),
    "only a search of Gemini's": (GEMINI, {"tools": [{"googleSearch": {}}]}),
}
REMOVED: Mapping[str, tuple[Language, Mapping[str, object], Mapping[str, object], list[str]]] = {
    "as codex does": (
        RESPONSES,
        {"tools": [FUNCTION, {"type": "tool_search"}, {"type": "web_search", "external_web_access": True}]},
        {"tools": [FUNCTION, {"type": "tool_search"}]},
        ["web_search"],
    ),
    "servers of others": (
        ANTHROPIC,
        {
            "mcp_servers": [{"type": "url", "url": FAR, "name": "x"}],
            "tools": [MADE, {"type": "mcp_toolset", "name": "x"}],
        },
        {"tools": [MADE]},
        ["mcp_servers", "mcp_toolset"],
    ),
    "all that OpenAI runs": (
        RESPONSES,
        {
            "tools": [
                {"type": "namespace", "name": "n", "tools": [FUNCTION, {"type": "mcp", "server_url": FAR}]},
                {"type": "file_search", "vector_store_ids": ["v"]},
                {"type": "code_interpreter", "container": {"type": "auto"}},
                {"type": "shell", "environment": {"type": "container_auto"}},
                {"type": "shell", "environment": {"type": "local"}},
                {"type": "of_tomorrow"},
            ]
        },
        {
            "tools": [
                {"type": "namespace", "name": "n", "tools": [FUNCTION]},
                {"type": "shell", "environment": {"type": "local"}},
            ]
        },
        ["mcp", "file_search", "code_interpreter", "shell", "of_tomorrow"],
    ),
    "a search in a chat": (CHAT, {"web_search_options": {"a": 1}, "plugins": [{"id": "web"}]}, {}, []),
    "a search beside functions": (
        GEMINI,
        {"tools": [{"functionDeclarations": [{"name": "look"}], "googleSearch": {}}, {"urlContext": {}}]},
        {"tools": [{"functionDeclarations": [{"name": "look"}]}]},
        ["googleSearch", "urlContext"],
    ),
}
PASSED: Mapping[str, tuple[Language, Mapping[str, object]]] = {
    "addresses in text and in the input of a tool": (
        ANTHROPIC,
        {
            "messages": [
                {"role": "user", "content": f"Look at {FAR}"},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_use",
                            "id": "t",
                            "name": "look",
                            "input": {"type": "url", "url": FAR, "image_url": FAR},
                        }
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": FAR}]},
            ],
            "tools": [MADE, {"type": "bash_20250124", "name": "bash"}],
        },
    ),
    "an image that comes along": (
        CHAT,
        _part({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
    ),
    "arguments of a call": (
        OLLAMA,
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"function": {"name": "look", "arguments": {"image_url": FAR}}}],
                }
            ]
        },
    ),
}


def _asked(
    model: RunningModel, setting: Setting, case: tuple[Language, Mapping[str, object]], name: str
) -> tuple[Heard, list[dict[str, object]], ErrorClass | None]:
    """The answer, the transcript and what the attempt knows of the call."""
    language, more = case

    async def story() -> tuple[Heard, list[dict[str, object]], ErrorClass | None]:
        async with setting.line(language.wire, model.url("say", name)) as line:
            path, body = language.asked(stream=False)
            heard = await line.send("POST", path, body=json.dumps({**body, **more}).encode())
            error = line.endpoint.last_error
            return heard, line.entries(), error.error if error else None

    return asyncio.run(story())


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_is_about_a_fetch_is_refused_in_the_words_of_the_provider(
    name: str, model: RunningModel, setting: Setting
) -> None:
    heard, (entry,), error = _asked(model, setting, REFUSED[name], _slug("refused", name))
    assert heard.status == 400
    text = text_at(heard.json, *REFUSED[name][0].error_text)
    assert 'server_fetches = "refuse"' in text
    assert error == ErrorClass.BAD_REQUEST
    assert (entry["status"], entry["note"]) == (400, "not passed on")
    assert text_at(entry, "error", "text") == text
    assert model.seen(_slug("refused", name)) == []


@pytest.mark.parametrize("name", REMOVED)
def test_a_tool_that_is_only_declared_is_taken_out(name: str, model: RunningModel, setting: Setting) -> None:
    language, more, left, removed = REMOVED[name]
    heard, (entry,), error = _asked(model, setting, (language, more), _slug("removed", name))
    assert (heard.status, error) == (200, None)
    (seen,) = model.calls(_slug("removed", name))
    assert json.loads(seen.body) == {**language.asked(stream=False)[1], **left}
    assert entry["removed"] == (removed or list(more))


@pytest.mark.parametrize("name", PASSED)
def test_what_the_provider_does_not_fetch_passes(name: str, model: RunningModel, setting: Setting) -> None:
    language, more = PASSED[name]
    heard, (entry,), _error = _asked(model, setting, (language, more), _slug("passed", name))
    assert heard.status == 200
    assert json.loads(model.calls(_slug("passed", name))[0].body) == {
        **language.asked(stream=False)[1],
        **more,
    }
    assert entry["removed"] == []


@pytest.mark.parametrize("name", [*REFUSED, *REMOVED])
def test_all_of_it_passes_where_the_user_allows_it(name: str, model: RunningModel, setting: Setting) -> None:
    language, more = REFUSED[name] if name in REFUSED else REMOVED[name][:2]
    allowing = replace(setting, limits=ProxyLimits(server_fetches=True))
    heard, (entry,), _error = _asked(model, allowing, (language, more), _slug("allowed", name))
    assert heard.status == 200
    assert json.loads(model.calls(_slug("allowed", name))[0].body) == {
        **language.asked(stream=False)[1],
        **more,
    }
    assert entry["removed"] == []


@pytest.mark.parametrize("dialect", Dialect)
def test_requests_of_any_shape_are_judged(dialect: Dialect) -> None:
    shapes: list[object] = [None, 7, "x", [], {}, {"type": "url", "url": 7}]
    for odd in (*shapes, [*shapes, {"type": 7}, {"type": []}]):
        for name in ("tools", "messages", "input", "tool_choice", "mcp_servers", "image_url", "file_data"):
            try:
                kept = screened(dialect, {name: odd, "tools": odd}).value
            except Fetches:
                continue
            assert dig(kept, "mcp_servers") in (None, [], {})
