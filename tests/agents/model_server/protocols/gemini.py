"""Gemini: `models/<model>:generateContent` and `:streamGenerateContent?alt=sse`."""

from tests.agents.model_server.conversation import Conversation, Json, Message, Reply, Tool
from tests.agents.model_server.protocols.wire import Wire, event, halves, text_of

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def _read(body: Json) -> Conversation:
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    messages = [Message("system", text_of(system.get("parts") if isinstance(system, dict) else system))]
    messages += [_message(raw) for raw in body.get("contents", [])]
    declared = [
        function for group in body.get("tools") or [] for function in group.get("functionDeclarations", [])
    ]
    tools = tuple(Tool(raw["name"], _schema(raw)) for raw in declared)
    return Conversation(body.get("model", ""), tuple(messages), tools, streaming=bool(body.get("stream")))


def _schema(raw: Json) -> Json:
    schema: Json = raw.get("parametersJsonSchema") or raw.get("parameters") or {}
    return schema


def _message(raw: Json) -> Message:
    parts = raw.get("parts") or []
    if raw.get("role") == "model":
        return Message("assistant", text_of(parts), sum("functionCall" in part for part in parts))
    answers = any("functionResponse" in part for part in parts)
    return Message("tool" if answers else "user", text_of(parts))


def _usage(reply: Reply) -> Json:
    return {
        "promptTokenCount": reply.usage.input,
        "candidatesTokenCount": reply.usage.output,
        "cachedContentTokenCount": reply.usage.cached,
        "totalTokenCount": reply.usage.input + reply.usage.output,
    }


def _response(reply: Reply, parts: list[Json], last: bool) -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    if last:
        candidate["finishReason"] = "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(reply),
        "modelVersion": reply.model,
        "responseId": reply.id,
    }


def _calls(reply: Reply) -> list[Json]:
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in reply.calls
    ]


def _whole(reply: Reply) -> Json:
    return _response(reply, [*([{"text": reply.text}] if reply.text else []), *_calls(reply)], last=True)


def _frames(reply: Reply, conversation: Conversation) -> list[bytes]:
    """Usage stands in every piece, the same each time: only the last one counts."""
    pieces: list[list[Json]] = [[{"text": piece}] for piece in halves(reply.text) if piece]
    pieces += [[call] for call in _calls(reply)]
    first = [_response(reply, parts, last=False) for parts in pieces]
    return [event(response) for response in (*first, _response(reply, [{"text": ""}], last=True))]


def _error(status: int, message: str) -> Json:
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "UNKNOWN")}}


WIRE = Wire("gemini", _read, _whole, _frames, _error)
