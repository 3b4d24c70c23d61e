"""Counting: every dialect's own way to report tokens, and streams that are cut anywhere."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.session import Usage
from interlock.proxy.counting import KEPT_CHARACTERS, AnswerTally, add_event
from interlock.proxy.json_stream import Form, JsonStream, form_of
from interlock.proxy.routes import Dialect

STREAM = (
    b': ping\n\nevent: message_start\ndata: {"type":"message_start",\ndata: "message":{"model":"m"}}\r\n\r\n'
    b'data: {"type":"content_block_delta","delta":{"text":"\xc3\xa9t\xc3\xa9"}}\n\n'
    b'data:{"type":"message_stop"}\n\ndata: [DONE]\n\n'
)


def tally_of(dialect: Dialect, *events: object) -> AnswerTally:
    tally = AnswerTally()
    for event in events:
        add_event(dialect, event, tally)
    return tally


def values(form: Form, *chunks: bytes) -> list[object]:
    pieces = JsonStream(form)
    return [value for chunk in chunks for value in pieces.feed(chunk)] + list(pieces.finish())


@pytest.mark.parametrize(
    ("dialect", "events", "usage"),
    [
        (
            Dialect.MESSAGES,
            [
                {
                    "type": "message_start",
                    "message": {
                        "usage": {
                            "input_tokens": 3,
                            "cache_creation_input_tokens": 20,
                            "cache_read_input_tokens": 100,
                            "output_tokens": 1,
                        }
                    },
                },
                {"type": "message_delta", "usage": {"output_tokens": 30}},
                {"type": "message_delta", "usage": {"output_tokens": 42, "input_tokens": 0}},
            ],
            Usage(123, 42, 100, 1),
        ),
        (
            Dialect.CHAT,
            [
                {"usage": None},
                {
                    "usage": {
                        "prompt_tokens": 9,
                        "completion_tokens": 8,
                        "prompt_tokens_details": {"cached_tokens": 7},
                    }
                },
            ],
            Usage(9, 8, 7, 1),
        ),
        (
            Dialect.GEMINI,
            [
                {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1}},
                {
                    "usageMetadata": {
                        "promptTokenCount": 5,
                        "toolUsePromptTokenCount": 2,
                        "candidatesTokenCount": 4,
                        "thoughtsTokenCount": 10,
                        "cachedContentTokenCount": 3,
                    }
                },
            ],
            Usage(7, 14, 3, 1),
        ),
        (Dialect.OLLAMA, [{"prompt_eval_count": 11, "eval_count": 12, "done": True}], Usage(11, 12, 0, 1)),
        (Dialect.CHAT, [{"usage": {"prompt_tokens": -5, "completion_tokens": "many"}}], Usage(calls=1)),
        (Dialect.RESPONSES, [{"usage": ["not", "an", "object"]}, ["nested"], 7], Usage(calls=1)),
    ],
)
def test_tokens_are_counted_as_each_provider_means_them(
    dialect: Dialect, events: list[object], usage: Usage
) -> None:
    assert tally_of(dialect, *events).usage == usage


def test_tool_calls_are_part_of_what_was_said() -> None:
    call = {"name": "bash", "arguments": '{"command":"ls"}'}
    assert (
        "[bash]"
        in tally_of(Dialect.CHAT, {"choices": [{"message": {"tool_calls": [{"function": call}]}}]}).text
    )
    block = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    assert "[bash]" in tally_of(Dialect.MESSAGES, {"type": "message", "content": [block]}).text
    item = {"type": "response.output_item.done", "item": {"type": "function_call", **call}}
    assert "[bash]" in tally_of(Dialect.RESPONSES, item).text
    part = {"functionCall": {"name": "bash", "args": {}}}
    assert "[bash]" in tally_of(Dialect.GEMINI, {"candidates": [{"content": {"parts": [part]}}]}).text
    assert "[bash]" in tally_of(Dialect.OLLAMA, {"message": {"tool_calls": [{"function": call}]}}).text


def test_the_text_that_is_kept_is_bounded() -> None:
    tally = tally_of(Dialect.OLLAMA, *[{"response": "x" * 10_000}] * 50)
    assert len(tally.text) == KEPT_CHARACTERS


@pytest.mark.slow
@pytest.mark.property
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "usage",
                        "message",
                        "error",
                        "choices",
                        "delta",
                        "response",
                        "candidates",
                        "content",
                    ]
                ),
                inner,
            )
        ),
    )
)
def test_no_answer_of_a_model_upsets_the_count(event: object) -> None:
    for dialect in Dialect:
        assert tally_of(dialect, event).usage.calls == 1


@pytest.mark.property
@given(st.lists(st.integers(0, len(STREAM)), max_size=10).map(sorted))
def test_a_stream_means_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(edges)]
    assert values(Form.EVENTS, *chunks) == [
        {"type": "message_start", "message": {"model": "m"}},
        {"type": "content_block_delta", "delta": {"text": "été"}},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (Form.LINES, b'{"a":1}\n\n{"b":2}', [{"a": 1}, {"b": 2}]),
        (Form.WHOLE, b'[{"a":1},{"b":2}]', [[{"a": 1}, {"b": 2}]]),
        (Form.WHOLE, b'data: {"a":1}\n\ndata: {"b":2}\n\n', [{"a": 1}, {"b": 2}]),
        (Form.WHOLE, b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (Form.WHOLE, b"<html>", [None]),
        (Form.EVENTS, b"<html>", [None]),
        (Form.EVENTS, b"data: {\n\n", [None]),
        (Form.LINES, b"garbage\n", [None]),
        (Form.WHOLE, b"[" * 100_000, [None]),
        (Form.EVENTS, b"", []),
    ],
)
def test_values_are_found_in_every_form_and_garbage_is_seen_as_such(
    form: Form, text: bytes, expected: list[object]
) -> None:
    assert values(form, text) == expected


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    pieces = JsonStream(Form.LINES)
    for _ in range(20):
        assert list(pieces.feed(b"x" * 1024 * 1024)) == []
    assert list(pieces.feed(b"\n" + json.dumps({"a": 1}).encode() + b"\n")) == [None, {"a": 1}]


def test_the_form_follows_from_the_content_type() -> None:
    assert form_of("text/event-stream; charset=utf-8") == Form.EVENTS
    assert form_of("Application/X-NDJSON") == Form.LINES
    assert form_of("") == Form.WHOLE
