"""Ollama: `/api/chat`, one JSON object a line."""

from tests.agents.model_server.conversation import Conversation, Json, Reply
from tests.agents.model_server.protocols.openai_chat import as_line, read_messages, read_tools
from tests.agents.model_server.protocols.wire import Wire, halves

_CREATED = "2026-01-01T00:00:00Z"


def _read(body: Json) -> Conversation:
    streaming = body.get("stream", True) is not False
    return Conversation(body.get("model", ""), read_messages(body), read_tools(body), streaming)


def _message(reply: Reply, text: str) -> Json:
    message: Json = {"role": "assistant", "content": text}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return message


def _line(reply: Reply, message: Json, **ending: object) -> Json:
    return {"model": reply.model, "created_at": _CREATED, "message": message, "done": bool(ending), **ending}


def _ending(reply: Reply) -> Json:
    return {
        "done_reason": "stop",
        "total_duration": 1_000_000,
        "load_duration": 0,
        "prompt_eval_count": reply.usage.input,
        "prompt_eval_duration": 0,
        "eval_count": reply.usage.output,
        "eval_duration": 0,
    }


def _whole(reply: Reply) -> Json:
    return _line(reply, _message(reply, reply.text), **_ending(reply))


def _frames(reply: Reply, conversation: Conversation) -> list[bytes]:
    lines = [_line(reply, {"role": "assistant", "content": piece}) for piece in halves(reply.text) if piece]
    if reply.calls:
        lines.append(_line(reply, _message(reply, "")))
    lines.append(_line(reply, {"role": "assistant", "content": ""}, **_ending(reply)))
    return [as_line(line) for line in lines]


def _error(status: int, message: str) -> Json:
    return {"error": message}


WIRE = Wire("ollama", _read, _whole, _frames, _error, stream_type="application/x-ndjson")
