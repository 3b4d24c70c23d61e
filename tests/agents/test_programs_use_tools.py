"""Real programs use Interlock's own tools from inside the sandbox (A22). Its calls are spans (A19)."""

import json

import pytest

from tests.agents.model_server import RunningModel
from tests.agents.programs import TOOLED, Driven
from tests.agents.workshop import Job, Workshop

pytestmark = [pytest.mark.agents, pytest.mark.slow]

QUESTION = "Should it accept strings as well?"
SESSION = (
    {"op": "ours", "tool": "my_task", "arguments": {}},
    {"op": "ours", "tool": "propose_task", "arguments": {"id": "docs", "goal": "Describe the numbers."}},
    {"op": "ours", "tool": "ask_person", "arguments": {"question": QUESTION}},
    {"op": "say", "text": "I have asked."},
)


def test_a_session_reads_its_task_proposes_a_child_and_asks_a_person(
    program: Driven, workshop: Workshop, model: RunningModel
) -> None:
    if program.use not in TOOLED:
        pytest.skip("Interlock gives this program no tools")
    model.add_script("uses-tools", SESSION)
    workshop.plan({"make": Job("Read numbers.", program.agent(model.url("uses-tools", workshop.name)))})
    workshop.interlock("run", code=6)
    results = [event for event in workshop.events("make") if event["kind"] == "result"]
    assert any("Read numbers." in event.get("text", "") for event in results), workshop.log("make")
    (proposed,) = (row["fact"] for row in workshop.facts("TaskProposed"))
    assert (proposed["task"], proposed["id"]) == ("make", "docs")
    (asked,) = (row["fact"] for row in workshop.facts("QuestionAsked"))
    assert asked["text"] == QUESTION
    spans = json.loads(workshop.interlock("trace", "--json"))["spans"]
    calls = [span for span in spans if span["attributes"].get("gen_ai.operation.name") == "chat"]
    assert len(calls) >= len(SESSION)
    assert {call["parent"] for call in calls} == {spans[1]["id"]}
    kinds = [item["kind"] for item in json.loads(workshop.interlock("inbox", "--json"))["items"]]
    assert kinds == ["question", "proposal"]
