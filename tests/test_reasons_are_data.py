"""Reasons are built from codes and values, never from prose: sentences are made in `ui/words` only."""

import ast
import typing
from collections.abc import Iterator, Mapping
from dataclasses import make_dataclass
from pathlib import Path

import pytest

from interlock.events.facts import kinds

SOURCE = Path(__file__).parents[1] / "src" / "interlock"
PACKAGES = ("model", "events", "plan", "schedule", "train", "learn", "proxy", "engine")
WORDS_OF_OTHERS = {"Paused", "TaskReset", "TaskCancelled", "StopRequested", "LessonRetired", "ScopeRequested"}
"""Facts whose `why` is what a person or an agent said. Interlock gives its own reason in another field."""


def prose(tree: ast.AST) -> Iterator[int]:
    """Lines that put a text with a space, or a text made on the spot, into a reason."""
    for call in ast.walk(tree):
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if isinstance(call, ast.Call) and name in ("Reason", "said", "because"):
            given = [*call.args, *(word.value for word in call.keywords)]
            for part in (part for each in given for part in ast.walk(each)):
                is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
                if isinstance(part, ast.JoinedStr) or (is_text and " " in ast.literal_eval(part)):
                    yield call.lineno


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_builds_a_reason_with_prose(package: str) -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        for line in prose(ast.parse(path.read_text()))
    ]
    assert found == []


def sentences(kinds: Mapping[str, type]) -> set[str]:
    """The facts that hold a reason as text."""
    hints = {kind: typing.get_type_hints(fact) for kind, fact in kinds.items()}
    return {kind for kind, names in hints.items() if str in (names.get("why"), names.get("agent_why"))}


def test_no_fact_holds_a_reason_of_interlock_as_text() -> None:
    assert sentences(kinds()) == WORDS_OF_OTHERS


def test_a_fact_with_a_sentence_is_seen() -> None:
    made = {name: make_dataclass(name, [(name, str)]) for name in ("why", "agent_why", "note")}
    assert sentences(made) == {"why", "agent_why"}


def test_prose_is_seen_where_it_is() -> None:
    assert set(prose(ast.parse("Reason(Why.LEASE, {'lease': name}), said(fact.why)"))) == set()
    assert set(prose(ast.parse("Reason(Why.LEASE, {'lease': f'the {name}'})"))) == {1}
    assert set(prose(ast.parse("said('no use')"))) == {1}
