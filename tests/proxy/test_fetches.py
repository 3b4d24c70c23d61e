"""Requests that make the provider's server contact others: refused, or passed on without the tool."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from interlock.model.outcome import ErrorClass
from interlock.proxy import ProxyLimits
from interlock.proxy.fetches import Fetches, screened
from interlock.proxy.json_values import text_at, value_at
from interlock.proxy.routes import Dialect
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
    "tools in other letters": (OLLAMA, {"Tools": [{"type": "web_search"}]}),
    "a request that calls itself a tool's": (
        RESPONSES,
        {
            "type": "tool_use",
            "input": [{"role": "user", "content": [{"type": "input_image", "image_url": FAR}]}],
        },
    ),
    "a message that calls itself a tool's": (
        ANTHROPIC,
        {"messages": [{"role": "user", "type": "tool_use", "input": {"url": FAR}, "content": "See"}]},
    ),
    "a server among the tools that were found": (
        RESPONSES,
        {"input": [{"type": "tool_search_output", "tools": [{"type": "mcp", "server_url": FAR}]}]},
    ),
    "one server that was found, without a list": (
        RESPONSES,
        {"input": [{"type": "tool_search_output", "tools": {"type": "mcp", "connector_id": "c"}}]},
    ),
    "servers further inside": (CHAT, {"extra_body": {"mcp_servers": [{"name": "x"}]}}),
    "a server in a function": (RESPONSES, {"tools": [{**FUNCTION, "server_url": "far.invalid"}]}),
    "a mask in a tool": (
        RESPONSES,
        {"tools": [{"type": "image_generation", "input_image_mask": {"image_url": FAR}}]},
    ),
    "a sound": (CHAT, _part({"type": "input_audio", "input_audio": {"data": FAR, "format": "wav"}})),
    "films": (CHAT, _part({"type": "video", "video": [FAR]})),
    "a picture": (CHAT, _part({"type": "image", "image": FAR})),
    "a picture with line ends": (CHAT, _part({"type": "image", "image": f"\x01 ht\ntps:\t//{FAR[8:]}"})),
    "a picture with other slashes": (CHAT, _part({"type": "image", "image": FAR.replace("/", "\\")})),
    "a part with an address": (CHAT, _part({"type": "image", "url": FAR})),
    "an address in other letters": (CHAT, _part({"type": "image", "imageUrl": {"url": FAR}})),
    "a picture for a local model": (OLLAMA, {"Messages": [{"role": "user", "images": [FAR]}]}),
    "a variable that is called response": (
        RESPONSES,
        {"prompt": {"id": "p", "variables": {"response": {"type": "input_image", "image_url": FAR}}}},
    ),
    "a variable that is called arguments": (
        RESPONSES,
        {"prompt": {"id": "p", "variables": {"arguments": {"type": "input_image", "image_url": FAR}}}},
    ),
}
MISSHAPEN: Mapping[str, tuple[Language, Mapping[str, object]]] = {
    "one search without a list": (GEMINI, {"tools": {"googleSearch": {}}}),
    "one page without a list": (GEMINI, {"tools": {"url_context": {}}}),
    "one tool without a list": (RESPONSES, {"tools": {"type": "web_search"}}),
    "tools that are a text": (RESPONSES, {"tools": "web_search"}),
    "a tool that is a text": (RESPONSES, {"tools": ["web_search"]}),
}
"""Tools in shapes that some providers read. The scripted model does not."""
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
    "a search without options": (CHAT, {"web_search_options": {}, "plugins": [], "enable_search": 0}, {}, []),
    "one tool in a namespace without a list": (
        RESPONSES,
        {"tools": [FUNCTION, {"type": "namespace", "name": "n", "tools": {"type": "web_search"}}]},
        {"tools": [FUNCTION, {"type": "namespace", "name": "n", "tools": []}]},
        ["web_search"],
    ),
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
    "a search that is off": (CHAT, {"web_search_options": None, "enable_search": False, "tools": None}),
    "schemas and metadata": (
        RESPONSES,
        {
            "tools": [
                FUNCTION,
                {"type": "function", "name": "l", "description": FAR, "parameters": {"$id": FAR}},
            ],
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"$schema": FAR}}},
            "metadata": {"url": FAR},
            "client_metadata": {"remote": FAR},
        },
    ),
    "calls and their output": (
        RESPONSES,
        {
            "input": [
                {"type": "local_shell_call", "action": {"type": "exec", "command": ["curl", FAR]}},
                {"type": "function_call", "name": "look", "arguments": FAR},
                {"type": "custom_tool_call", "name": "look", "input": FAR},
                {"type": "function_call_output", "output": FAR},
                {"type": "shell_call_output", "output": [{"stdout": FAR, "stderr": FAR}]},
                {"type": "tool_search_output", "tools": [FUNCTION]},
            ]
        },
    ),
    "a document that comes along": (
        ANTHROPIC,
        _part({"type": "document", "title": FAR, "source": {"type": "text", "data": FAR}}),
    ),
    "a call of Gemini's and its answer": (
        GEMINI,
        {
            "contents": [
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"url": FAR}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"url": FAR}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": {"$id": FAR}}]}],
        },
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


@pytest.mark.parametrize("name", [*REFUSED, *MISSHAPEN])
def test_a_request_that_is_about_a_fetch_is_refused_in_the_words_of_the_provider(
    name: str, model: RunningModel, setting: Setting
) -> None:
    case = {**REFUSED, **MISSHAPEN}[name]
    heard, (entry,), error = _asked(model, setting, case, _slug("refused", name))
    assert heard.status == 400
    text = text_at(heard.json, *case[0].error_text)
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
            assert value_at(kept, "mcp_servers") in (None, [], {})
