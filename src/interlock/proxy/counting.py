"""The sum of an answer: tokens, text, and if it came to its end. Streams and whole bodies alike.

1. Counts in a stream are running totals, so the largest counts. Adding them up would count twice.
2. All input is input, whether it came from a cache or not; Anthropic alone reports the parts apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.model.error_words import of_names
from interlock.model.outcome import ErrorClass
from interlock.model.session import Usage
from interlock.proxy.classify import TEXT_CHARACTERS
from interlock.proxy.json_values import count_at, items_at, text_at, value_at
from interlock.proxy.order import CallError
from interlock.proxy.routes import Dialect

KEPT_CHARACTERS = 96 * 1024
"""More than a transcript shows, so that a secret at its edge is recognised before the cut."""


@dataclass(slots=True)
class AnswerTally:
    """The sum of the events of one answer so far."""

    model: str = ""
    finished: bool = False
    """The model has said that it is done."""
    events: int = 0
    broken: int = 0
    """Pieces that should have been JSON and were not."""
    trouble: CallError | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _characters: int = 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def usage(self) -> Usage:
        return Usage(
            self._counts.get("input", 0),
            self._counts.get("output", 0),
            self._counts.get("cached", 0),
            calls=1,
        )

    def say(self, text: str) -> None:
        room = KEPT_CHARACTERS - self._characters
        if room > 0 and text:
            self._text.append(text[:room])
            self._characters += len(text)

    def count(self, name: str, tokens: int) -> None:
        self._counts[name] = max(self._counts.get(name, 0), tokens)

    def part(self, name: str) -> int:
        return self._counts.get(name, 0)

    def fail(self, error: object) -> None:
        """The provider says in the middle of an answer that it went wrong."""
        found = [value_at(error, name) for name in ("code", "status", "type")]
        names = [str(name) for name in found if isinstance(name, str | int) and name]
        text = " ".join(filter(None, (text_at(error), *names, text_at(error, "message"))))
        self.trouble = CallError(of_names(names, text) or ErrorClass.MODEL, text[:TEXT_CHARACTERS])


def _messages(event: object, tally: AnswerTally) -> None:
    kind = text_at(event, "type")
    if kind == "error":
        tally.fail(value_at(event, "error"))
    message = value_at(event, "message") if kind == "message_start" else event
    tally.model = text_at(message, "model") or tally.model
    _messages_usage(value_at(message, "usage"), tally)
    stopped = text_at(event, "delta", "stop_reason") or text_at(message, "stop_reason")
    tally.finished |= bool(stopped) or kind == "message_stop"
    for block in (value_at(event, "content_block"), *items_at(event, "content")):
        if text_at(block, "type") == "tool_use":
            tally.say(f"\n[{text_at(block, 'name')}] {value_at(block, 'input') or ''}")
        tally.say(text_at(block, "text"))
    tally.say(text_at(event, "delta", "text") + text_at(event, "delta", "partial_json"))


def _messages_usage(usage: object, tally: AnswerTally) -> None:
    tally.count("fresh", count_at(usage, "input_tokens"))
    tally.count("made", count_at(usage, "cache_creation_input_tokens"))
    tally.count("cached", count_at(usage, "cache_read_input_tokens"))
    tally.count("output", count_at(usage, "output_tokens"))
    tally.count("input", tally.part("fresh") + tally.part("made") + tally.part("cached"))


def _chat(event: object, tally: AnswerTally) -> None:
    if value_at(event, "error"):
        tally.fail(value_at(event, "error"))
    tally.model = text_at(event, "model") or tally.model
    usage = value_at(event, "usage")
    tally.count("input", count_at(usage, "prompt_tokens"))
    tally.count("output", count_at(usage, "completion_tokens"))
    tally.count("cached", count_at(usage, "prompt_tokens_details", "cached_tokens"))
    tally.finished |= text_at(event, "object") == "list"
    for choice in items_at(event, "choices"):
        tally.finished |= bool(text_at(choice, "finish_reason"))
        for said in (value_at(choice, "delta"), value_at(choice, "message")):
            tally.say(text_at(said, "content"))
            for call in items_at(said, "tool_calls"):
                name = text_at(call, "function", "name")
                tally.say((f"\n[{name}] " if name else "") + text_at(call, "function", "arguments"))
        tally.say(text_at(choice, "text"))


def _responses(event: object, tally: AnswerTally) -> None:
    kind = text_at(event, "type")
    response = value_at(event, "response") or event
    if kind == "error":
        tally.fail(value_at(event, "error") or event)
    if text_at(response, "status") == "failed" or (not kind and value_at(response, "error")):
        tally.fail(value_at(response, "error"))
    tally.model = text_at(response, "model") or tally.model
    usage = value_at(response, "usage")
    tally.count("input", count_at(usage, "input_tokens"))
    tally.count("output", count_at(usage, "output_tokens"))
    tally.count("cached", count_at(usage, "input_tokens_details", "cached_tokens"))
    tally.finished |= text_at(response, "status") in ("completed", "incomplete")
    tally.finished |= kind in ("response.completed", "response.incomplete") or text_at(
        response, "object"
    ).startswith("response.")
    if kind == "response.output_item.done":
        _response_item(value_at(event, "item"), tally)
    elif not kind:
        for item in items_at(response, "output"):
            _response_item(item, tally)


def _response_item(item: object, tally: AnswerTally) -> None:
    for part in items_at(item, "content"):
        tally.say(text_at(part, "text"))
    if text_at(item, "type").endswith("_call"):
        tally.say(f"\n[{text_at(item, 'name')}] {text_at(item, 'arguments') or text_at(item, 'input')}")


def _gemini(event: object, tally: AnswerTally) -> None:
    if value_at(event, "error"):
        tally.fail(value_at(event, "error"))
    tally.model = text_at(event, "modelVersion") or tally.model
    usage = value_at(event, "usageMetadata")
    tally.count("input", count_at(usage, "promptTokenCount") + count_at(usage, "toolUsePromptTokenCount"))
    tally.count("output", count_at(usage, "candidatesTokenCount") + count_at(usage, "thoughtsTokenCount"))
    tally.count("cached", count_at(usage, "cachedContentTokenCount"))
    tally.finished |= bool(text_at(event, "promptFeedback", "blockReason")) or bool(
        value_at(event, "embedding") or value_at(event, "embeddings")
    )
    for candidate in items_at(event, "candidates"):
        tally.finished |= bool(text_at(candidate, "finishReason"))
        for part in items_at(candidate, "content", "parts"):
            tally.say(text_at(part, "text"))
            if value_at(part, "functionCall"):
                name, arguments = (
                    text_at(part, "functionCall", "name"),
                    value_at(part, "functionCall", "args"),
                )
                tally.say(f"\n[{name}] {arguments}")


def _ollama(event: object, tally: AnswerTally) -> None:
    if value_at(event, "error"):
        tally.fail(value_at(event, "error"))
    tally.model = text_at(event, "model") or tally.model
    tally.count("input", count_at(event, "prompt_eval_count"))
    tally.count("output", count_at(event, "eval_count"))
    tally.finished |= value_at(event, "done") is True or bool(
        value_at(event, "embeddings") or value_at(event, "embedding")
    )
    tally.say(text_at(event, "message", "content") + text_at(event, "response"))
    for call in items_at(event, "message", "tool_calls"):
        tally.say(f"\n[{text_at(call, 'function', 'name')}] {value_at(call, 'function', 'arguments')}")


_READERS: dict[Dialect, Callable[[object, AnswerTally], None]] = {
    Dialect.MESSAGES: _messages,
    Dialect.CHAT: _chat,
    Dialect.RESPONSES: _responses,
    Dialect.GEMINI: _gemini,
    Dialect.OLLAMA: _ollama,
}


def add_event(dialect: Dialect, event: object, tally: AnswerTally) -> None:
    """Count one event of a stream, or a whole answer."""
    if isinstance(event, dict):
        tally.events += 1
        _READERS[dialect](event, tally)
    elif isinstance(event, list):
        for part in event:
            add_event(dialect, part, tally)
    else:
        tally.broken += 1


def judged(tally: AnswerTally) -> CallError | None:
    """Return the fault of a successful answer that has come to its end; None if it has none."""
    if tally.trouble or tally.finished:
        return tally.trouble
    if not tally.events or tally.broken:
        return CallError(
            ErrorClass.MODEL, "the answer cannot be read" if tally.broken else "the answer is empty"
        )
    return CallError(ErrorClass.NETWORK, "the answer was cut off")
