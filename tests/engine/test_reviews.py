"""A tested change waits for a person before it lands, through the real command. A14."""

import json

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

MAKES = 'echo "$INTERLOCK_ATTEMPT" > "$INTERLOCK_TASK_ID.txt"'


def test_a_change_waits_for_approval_and_others_land_past_it(scratch: Scratch) -> None:
    tasks = (
        "  a: {goal: Make a, review: required}\n  b: {goal: Make b, review: required}\n  c: {goal: Make c}\n"
    )
    scratch.graph(tasks, MAKES, verify="'test -n x'")
    out = scratch.interlock("run", code=6)
    assert (
        "a: waits for review: a person approves its change before it lands. Next: interlock review a" in out
    )
    assert scratch.states() == {"a": "waiting", "b": "waiting", "c": "done"}
    assert "2 changes" not in scratch.interlock("review")
    items = json.loads(scratch.interlock("inbox", "--json"))["items"]
    assert {(item["kind"], item["task"], item["next"][1]) for item in items} == {
        ("review", name, f"interlock approve {name}") for name in ("a", "b")
    }
    assert "next: interlock run" in scratch.interlock("approve", "a")
    scratch.interlock("run", code=6)
    assert scratch.states() == {"a": "done", "b": "waiting", "c": "done"}
    assert len(scratch.facts("WorkFinished")) == 3
    scratch.interlock("approve", "--all")
    scratch.interlock("run")
    assert scratch.git("show", "main:b.txt") == "1"


def test_a_rejected_change_goes_back_to_its_agent_with_the_comments(scratch: Scratch) -> None:
    agent = 'printf "one\\ntwo\\n$INTERLOCK_ATTEMPT\\n" > a.txt; cp "$INTERLOCK_PROMPT_FILE" prompt.txt'
    scratch.graph("  a: {goal: Make a, review: required, retries: 0}\n", agent, verify="'test -n x'")
    scratch.interlock("run", code=6)
    shown = scratch.interlock("review", "a")
    assert "+two" in shown
    scratch.interlock("comment", "a", "a.txt:2", "say", "three")
    assert "say three" in scratch.interlock("review", "a")
    scratch.interlock("reject", "a", "-m", "one word is wrong")
    scratch.interlock("run", code=6)
    scratch.interlock("approve", "a", "-m", "good")
    scratch.interlock("run")
    prompt = scratch.git("show", "main:prompt.txt")
    assert "one word is wrong" in prompt
    assert ">     2  two" in prompt
    assert "say three" in prompt
    assert scratch.facts("PhaseFailed", "TaskFailed") == []
