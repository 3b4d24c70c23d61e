"""The conversation in the two languages that servers speak: OpenAI's chat completions, and Ollama's own."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Json = dict[
    str, Any
]  # what servers and models send; a missing key or a wrong type is `ModelFailure("model")`


@dataclass
class Call:
    """A tool that the model wants used."""

    id: str
    name: str
    arguments: Json


@dataclass
class Message:
    """One message of the conversation. Only `text` of a result ever changes: to save room."""

    role: str
    text: str
    calls: list[Call] = field(default_factory=list)
    call: str = ""
    """Id of the call, for a result."""
    tool: str = ""
    """Name of the tool, for a result. A result of a written call has the role `user`."""

    def saved(self) -> Json:
        return asdict(self)


def restored(saved: Json) -> Message:
    return Message(**{**saved, "calls": [Call(**call) for call in saved["calls"]]})


@dataclass(frozen=True)
class Reply:
    """The model's answer, and the tokens it took."""

    text: str
    calls: list[Call]
    usage: dict[str, int]


@dataclass(frozen=True)
class ChatDialect:
    """One of the two languages."""

    path: str
    write: Callable[[Message], Json]
    read: Callable[[Json], Reply]


def _to_openai(message: Message) -> Json:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call, "content": message.text}
    said: Json = {"role": message.role, "content": message.text}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.calls
        ]
    return said


def _from_openai(answer: Json) -> Reply:
    message, usage = answer["choices"][0]["message"], answer.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    tokens = {
        "input": usage.get("prompt_tokens", 0),
        "output": usage.get("completion_tokens", 0),
        "cached": cached,
    }
    return Reply(message.get("content") or "", _calls(message.get("tool_calls") or ()), tokens)


def _to_ollama(message: Message) -> Json:
    if message.role == "tool":
        return {"role": "tool", "tool_name": message.tool, "content": message.text}
    said: Json = {"role": message.role, "content": message.text}
    if message.calls:
        said["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
        ]
    return said


def _from_ollama(answer: Json) -> Reply:
    message = answer["message"]
    tokens = {"input": answer.get("prompt_eval_count", 0), "output": answer.get("eval_count", 0), "cached": 0}
    return Reply(message.get("content") or "", _calls(message.get("tool_calls") or ()), tokens)


def _calls(calls: Sequence[Json]) -> list[Call]:
    return [
        called(str(call.get("id") or f"call_{number}"), call["function"]) for number, call in enumerate(calls)
    ]


def called(id: str, function: Json) -> Call:
    """A call by name. What is not JSON goes back to the model as its mistake, in a form servers accept."""
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"not JSON": arguments[:500]}
    return Call(id, str(function["name"]), arguments if isinstance(arguments, dict) else {})


OPENAI = ChatDialect("/chat/completions", _to_openai, _from_openai)
OLLAMA = ChatDialect("/api/chat", _to_ollama, _from_ollama)
