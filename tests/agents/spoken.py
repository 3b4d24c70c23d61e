"""The least a client of each protocol does: say where the conversation stands, and understand the answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.agents.model_server.conversation import Json

WRITE: Json = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
BASH: Json = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS: dict[str, Json] = {"write": WRITE, "bash": BASH}


@dataclass(frozen=True)
class Answer:
    """What the model said, whichever protocol it said it in."""

    text: str
    calls: list[tuple[str, Json]]
    usage: tuple[int, int, int]
    """Input, output, cached."""


@dataclass(frozen=True)
class Client:
    """One protocol from the client's side."""

    path: str
    stream_path: str
    body: Callable[[int, bool], Json]
    """The request after so many tool calls, streaming or not."""
    whole: Callable[[Json], Answer]
    streamed: Callable[[str], Answer]


def events(text: str) -> list[Json]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def _anthropic_body(step: int, stream: bool) -> Json:
    messages: list[Json] = [{"role": "user", "content": "Work."}]
    for n in range(step):
        call = {"type": "tool_use", "id": f"t{n}", "name": "bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "ok"}
        reminder = {"type": "text", "text": "<system-reminder>be brief</system-reminder>"}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result, reminder]},
        ]
    tools = [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()]
    return {"model": "m", "messages": messages, "tools": tools, "stream": stream, "max_tokens": 100}


def _anthropic_usage(usage: Json) -> tuple[int, int, int]:
    return usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"]


def _anthropic_whole(body: Json) -> Answer:
    text = "".join(part["text"] for part in body["content"] if part["type"] == "text")
    calls = [(part["name"], part["input"]) for part in body["content"] if part["type"] == "tool_use"]
    return Answer(text, calls, _anthropic_usage(body["usage"]))


def _anthropic_streamed(raw: str) -> Answer:
    seen = events(raw)
    deltas = [one["delta"] for one in seen if one["type"] == "content_block_delta"]
    names = [one["content_block"].get("name") for one in seen if one["type"] == "content_block_start"]
    text = "".join(delta.get("text", "") for delta in deltas)
    arguments = "".join(delta.get("partial_json", "") for delta in deltas)
    calls = [(names[0], json.loads(arguments))] if arguments else []
    ending = next(one for one in seen if one["type"] == "message_delta")
    return Answer(text, calls, _anthropic_usage(ending["usage"]))


def _chat_messages(step: int) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Work."}]
    for n in range(step):
        call = {"id": f"t{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"t{n}", "content": "ok"})
    return messages


def _functions() -> list[Json]:
    return [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in TOOLS.items()
    ]


def _chat_body(step: int, stream: bool) -> Json:
    body = {"model": "m", "messages": _chat_messages(step), "tools": _functions(), "stream": stream}
    return {**body, "stream_options": {"include_usage": True}} if stream else body


def _chat_usage(usage: Json) -> tuple[int, int, int]:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return usage["prompt_tokens"], usage["completion_tokens"], cached


def _chat_whole(body: Json) -> Answer:
    message = body["choices"][0]["message"]
    functions = [call["function"] for call in message.get("tool_calls", [])]
    calls = [(one["name"], json.loads(one["arguments"])) for one in functions]
    return Answer(message["content"] or "", calls, _chat_usage(body["usage"]))


def _chat_streamed(raw: str) -> Answer:
    assert raw.endswith("data: [DONE]\n\n")
    chunks = events(raw)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    functions = [call["function"] for delta in deltas for call in delta.get("tool_calls", [])]
    arguments = "".join(function["arguments"] for function in functions)
    calls = [(functions[0]["name"], json.loads(arguments))] if functions else []
    text = "".join(delta.get("content") or "" for delta in deltas)
    return Answer(text, calls, _chat_usage(chunks[-1]["usage"]))


def _responses_body(step: int, stream: bool) -> Json:
    items: list[Json] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Work."}]}
    ]
    for n in range(step):
        items.append({"type": "function_call", "call_id": f"t{n}", "name": "bash", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"t{n}", "output": "ok"})
    tools = [{"type": "function", "name": name, "parameters": schema} for name, schema in TOOLS.items()]
    return {"model": "m", "instructions": "Be good.", "input": items, "tools": tools, "stream": stream}


def _responses_whole(body: Json) -> Answer:
    spoken = [part["text"] for item in body["output"] for part in item.get("content", [])]
    called = [item for item in body["output"] if item["type"] == "function_call"]
    calls = [(item["name"], json.loads(item["arguments"])) for item in called]
    usage = body["usage"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    return Answer("".join(spoken), calls, (usage["input_tokens"], usage["output_tokens"], cached))


def _responses_streamed(raw: str) -> Answer:
    seen = events(raw)
    done = [one["item"] for one in seen if one["type"] == "response.output_item.done"]
    response = seen[-1]["response"]
    assert (seen[0]["type"], seen[-1]["type"]) == ("response.created", "response.completed")
    assert response["output"] == done
    return _responses_whole(response)


def _gemini_body(step: int, stream: bool) -> Json:
    contents: list[Json] = [{"role": "user", "parts": [{"text": "Work."}]}]
    for _ in range(step):
        contents.append({"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {}}}]})
        contents.append({"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {}}}]})
    declared = [{"name": name, "parametersJsonSchema": schema} for name, schema in TOOLS.items()]
    return {"contents": contents, "tools": [{"functionDeclarations": declared}]}


def _gemini_answer(pieces: list[Json]) -> Answer:
    parts = [part for piece in pieces for part in piece["candidates"][0]["content"]["parts"]]
    calls = [(p["functionCall"]["name"], p["functionCall"]["args"]) for p in parts if "functionCall" in p]
    usage = pieces[-1]["usageMetadata"]
    assert pieces[-1]["candidates"][0]["finishReason"] == "STOP"
    counts = (usage["promptTokenCount"], usage["candidatesTokenCount"], usage["cachedContentTokenCount"])
    return Answer("".join(part.get("text", "") for part in parts), calls, counts)


def _ollama_body(step: int, stream: bool) -> Json:
    return {"model": "m", "messages": _chat_messages(step), "tools": _functions(), "stream": stream}


def _ollama_answer(lines: list[Json]) -> Answer:
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    functions = [call["function"] for line in lines for call in line["message"].get("tool_calls", [])]
    text = "".join(line["message"]["content"] for line in lines)
    # This protocol has no word for cached tokens.
    counts = (lines[-1]["prompt_eval_count"], lines[-1]["eval_count"], 10)
    return Answer(text, [(one["name"], one["arguments"]) for one in functions], counts)


CLIENTS: dict[str, Client] = {
    "anthropic": Client(
        "/v1/messages", "/v1/messages", _anthropic_body, _anthropic_whole, _anthropic_streamed
    ),
    "openai-chat": Client(
        "/v1/chat/completions", "/v1/chat/completions", _chat_body, _chat_whole, _chat_streamed
    ),
    "openai-responses": Client(
        "/v1/responses", "/v1/responses", _responses_body, _responses_whole, _responses_streamed
    ),
    "gemini": Client(
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        _gemini_body,
        lambda body: _gemini_answer([body]),
        lambda raw: _gemini_answer(events(raw)),
    ),
    "ollama": Client(
        "/api/chat",
        "/api/chat",
        _ollama_body,
        lambda body: _ollama_answer([body]),
        lambda raw: _ollama_answer([json.loads(line) for line in raw.splitlines()]),
    ),
}
