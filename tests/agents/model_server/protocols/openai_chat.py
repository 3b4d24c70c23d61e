"""OpenAI chat completions: `/v1/chat/completions`."""

import json

from tests.agents.model_server.conversation import Conversation, Json, Message, Reply, Tool
from tests.agents.model_server.protocols.wire import Wire, event, halves, text_of
from tests.agents.model_server.tool_choice import as_json_text

_CREATED = 1_700_000_000


def read_messages(body: Json) -> tuple[Message, ...]:
    return tuple(_message(raw) for raw in body.get("messages", []))


def _message(raw: Json) -> Message:
    text = text_of(raw.get("content"))
    if raw["role"] == "assistant":
        return Message("assistant", text, len(raw.get("tool_calls") or []))
    if raw["role"] in ("system", "developer"):
        return Message("system", text)
    return Message("tool" if raw["role"] == "tool" else "user", text)


def read_tools(body: Json) -> tuple[Tool, ...]:
    functions = [raw["function"] for raw in body.get("tools") or [] if raw.get("type") == "function"]
    return tuple(Tool(function["name"], function.get("parameters") or {}) for function in functions)


def _read(body: Json) -> Conversation:
    streaming = bool(body.get("stream"))
    wanted = bool((body.get("stream_options") or {}).get("include_usage"))
    return Conversation(
        body.get("model", ""), read_messages(body), read_tools(body), streaming, usage_wanted=wanted
    )


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.usage.input,
        "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.input + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
    }


def _calls(reply: Reply) -> list[Json]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": as_json_text(call.arguments)},
        }
        for call in reply.calls
    ]


def _envelope(reply: Reply, kind: str) -> Json:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": _CREATED, "model": reply.model}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _whole(reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {**_envelope(reply, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def _frames(reply: Reply, conversation: Conversation) -> list[bytes]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    if reply.text:
        deltas += [{"content": piece} for piece in halves(reply.text)]
    for index, call in enumerate(_calls(reply)):
        deltas += _call_deltas(index, call)
    frames = [_chunk(reply, delta) for delta in deltas]
    frames.append(_chunk(reply, {}, _finish(reply)))
    if conversation.usage_wanted:
        frames.append(
            event({**_envelope(reply, "chat.completion.chunk"), "choices": [], "usage": _usage(reply)})
        )
    return [*frames, b"data: [DONE]\n\n"]


def _call_deltas(index: int, call: Json) -> list[Json]:
    first, second = halves(call["function"]["arguments"])
    named = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
    pieces: list[Json] = [{"index": index, "function": {"arguments": piece}} for piece in (first, second)]
    return [{"tool_calls": [part]} for part in (named, *pieces)]


def _chunk(reply: Reply, delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({**_envelope(reply, "chat.completion.chunk"), "choices": [choice]})


def error(status: int, message: str) -> Json:
    kinds = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    kind = "invalid_request_error" if status < 500 and status != 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": kinds.get(status)}}


def as_line(payload: Json) -> bytes:
    return json.dumps(payload).encode() + b"\n"


WIRE = Wire("openai-chat", _read, _whole, _frames, error)
