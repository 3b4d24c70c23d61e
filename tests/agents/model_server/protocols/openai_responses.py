"""OpenAI responses: `/v1/responses`, the protocol of Codex."""

from tests.agents.model_server.conversation import Call, Conversation, Json, Message, Reply, Tool
from tests.agents.model_server.protocols.openai_chat import error
from tests.agents.model_server.protocols.wire import Wire, event, halves, text_of
from tests.agents.model_server.tool_choice import as_json_text

_CREATED = 1_700_000_000


def _read(body: Json) -> Conversation:
    given = body.get("input", [])
    items: list[Json] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages = [Message("system", text_of(body.get("instructions", "")))]
    messages += [message for message in map(_message, items) if message]
    streaming = bool(body.get("stream"))
    return Conversation(body.get("model", ""), tuple(messages), _tools(body, items), streaming)


def _message(item: Json) -> Message | None:
    kind = item.get("type", "message")
    if kind in ("function_call", "custom_tool_call", "local_shell_call"):
        return Message("assistant", calls=1)
    if kind.endswith("_output"):
        return Message("tool", text_of(item.get("output")))
    if kind != "message":
        return None
    text = text_of(item.get("content"))
    if item["role"] in ("system", "developer"):
        return Message("system", text)
    return Message("assistant" if item["role"] == "assistant" else "user", text)


def _tools(body: Json, items: list[Json]) -> tuple[Tool, ...]:
    """Tools stand in the body; newer clients also add some inside the input."""
    declared = list(body.get("tools") or [])
    for item in items:
        if item.get("type") == "additional_tools":
            declared += item.get("tools") or []
    return tuple(
        Tool(raw["name"], raw.get("parameters") or {}, freeform=raw["type"] == "custom")
        for raw in declared
        if raw.get("type") in ("function", "custom")
    )


def _usage(reply: Reply) -> Json:
    return {
        "input_tokens": reply.usage.input,
        "input_tokens_details": {"cached_tokens": reply.usage.cached},
        "output_tokens": reply.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.usage.input + reply.usage.output,
    }


def _items(reply: Reply) -> list[Json]:
    spoken: Json = {
        "type": "message",
        "id": f"msg_{reply.id}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
    }
    return [*([spoken] if reply.text else []), *(_call_item(call) for call in reply.calls)]


def _call_item(call: Call) -> Json:
    # Codex knows the tools of a server, which it does not declare at first, by the server and the tool.
    server, _, name = call.name.rpartition("__")
    named = {"namespace": server, "name": name} if server.startswith("mcp__") else {"name": call.name}
    shared: Json = {"call_id": call.id, "status": "completed", **named}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", "id": f"ctc_{call.id}", "input": call.arguments, **shared}
    return {
        "type": "function_call",
        "id": f"fc_{call.id}",
        "arguments": as_json_text(call.arguments),
        **shared,
    }


def _response(reply: Reply, status: str) -> Json:
    done = status == "completed"
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "model": reply.model,
        "output": _items(reply) if done else [],
        "usage": _usage(reply) if done else None,
        "error": None,
        "incomplete_details": None,
    }


def _whole(reply: Reply) -> Json:
    return _response(reply, "completed")


def _frames(reply: Reply, conversation: Conversation) -> list[bytes]:
    events: list[Json] = [{"type": "response.created", "response": _response(reply, "in_progress")}]
    for index, item in enumerate(_items(reply)):
        events += _item_events(index, item)
    events.append({"type": "response.completed", "response": _response(reply, "completed")})
    return [event({**one, "sequence_number": number}, one["type"]) for number, one in enumerate(events)]


def _item_events(index: int, item: Json) -> list[Json]:
    place: Json = {"output_index": index, "item_id": item["id"]}
    prefix, key, text = _streamed_part(item)
    place |= {"content_index": 0} if item["type"] == "message" else {}
    unsaid: Json = {"content": []} if item["type"] == "message" else {key: ""}
    empty = {**item, "status": "in_progress", **unsaid}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": empty},
        *({"type": f"{prefix}.delta", "delta": piece, **place} for piece in halves(text)),
        {"type": f"{prefix}.done", key: text, **place},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _streamed_part(item: Json) -> tuple[str, str, str]:
    """The event's name, its field, and the text that comes in pieces."""
    if item["type"] == "message":
        return "response.output_text", "text", item["content"][0]["text"]
    if item["type"] == "custom_tool_call":
        return "response.custom_tool_call_input", "input", item["input"]
    return "response.function_call_arguments", "arguments", item["arguments"]


WIRE = Wire("openai-responses", _read, _whole, _frames, error)
