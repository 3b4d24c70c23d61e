"""Anthropic Messages: `/v1/messages`."""

from tests.agents.model_server.conversation import Call, Conversation, Json, Message, Reply, Tool
from tests.agents.model_server.protocols.wire import Wire, event, halves, text_of
from tests.agents.model_server.tool_choice import as_json_text

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _read(body: Json) -> Conversation:
    messages = [Message("system", text_of(body.get("system", "")))]
    messages += [_message(raw) for raw in body.get("messages", [])]
    tools = tuple(Tool(raw["name"], raw.get("input_schema", {})) for raw in body.get("tools", []))
    return Conversation(body.get("model", ""), tuple(messages), tools, streaming=bool(body.get("stream")))


def _message(raw: Json) -> Message:
    content = raw["content"]
    kinds = [part.get("type") for part in content] if isinstance(content, list) else []
    if raw["role"] == "assistant":
        return Message("assistant", text_of(content), kinds.count("tool_use"))
    if raw["role"] == "system":  # Claude Code also puts its environment among the messages
        return Message("system", text_of(content))
    return Message("tool" if "tool_result" in kinds else "user", text_of(content))


def _usage(reply: Reply) -> Json:
    return {
        "input_tokens": reply.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.usage.cached,
        "output_tokens": reply.usage.output,
    }


def _envelope(reply: Reply) -> Json:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "stop_sequence": None,
    }


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _whole(reply: Reply) -> Json:
    content: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [_block(call, call.arguments) for call in reply.calls]
    return {
        **_envelope(reply),
        "content": content,
        "stop_reason": _stop_reason(reply),
        "usage": _usage(reply),
    }


def _block(call: Call, arguments: Json | str) -> Json:
    return {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": arguments}


def _frames(reply: Reply, conversation: Conversation) -> list[bytes]:
    first = {**_usage(reply), "output_tokens": 1}
    start = {**_envelope(reply), "content": [], "stop_reason": None, "usage": first}
    frames = [_named("message_start", message=start), _named("ping")]
    if reply.text:
        frames += _block_frames(0, {"type": "text", "text": ""}, "text_delta", "text", reply.text)
    for index, call in enumerate(reply.calls, start=bool(reply.text)):
        pieces = as_json_text(call.arguments)
        frames += _block_frames(index, _block(call, {}), "input_json_delta", "partial_json", pieces)
    # The real service repeats the input counts here: whoever adds both up counts them twice.
    ending = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    frames += [_named("message_delta", delta=ending, usage=_usage(reply)), _named("message_stop")]
    return frames


def _block_frames(index: int, block: Json, delta: str, key: str, text: str) -> list[bytes]:
    pieces = [
        _named("content_block_delta", index=index, delta={"type": delta, key: piece})
        for piece in halves(text)
    ]
    started = _named("content_block_start", index=index, content_block=block)
    return [started, *pieces, _named("content_block_stop", index=index)]


def _named(name: str, **fields: object) -> bytes:
    return event({"type": name, **fields}, name)


def _error(status: int, message: str) -> Json:
    kind = _ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


WIRE = Wire("anthropic", _read, _whole, _frames, _error)
