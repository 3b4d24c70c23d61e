"""The tools of an agent: called in the sandbox of a real run, about its own attempt alone (A22, A3)."""

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.ui.mcp.agents import agent_tools
from interlock.ui.mcp.tools import listing
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

AGENT = Path(__file__).with_name("calling_agent.py").read_text()
MOST_TOOLS = 12
MOST_TOKENS = 2_000
TOKEN_CHARS = 4
Calls = list[dict[str, object]]
PROPOSAL = {"id": "split", "goal": "Split the parser", "done_when": ["test -e split.answers.json"]}


def plan(scratch: Scratch, calls: dict[str, Calls], **defaults: str) -> None:
    scratch.write(calling_agent__py=AGENT, calls__json=json.dumps(calls))
    scratch.graph(
        "  a: {goal: Read numbers, touches: [a.answers.json]}\n", "python3 calling_agent.py", **defaults
    )


def answers(scratch: Scratch, task: str = "a") -> list[Any]:  # Any: parsed JSON
    """What the tools answered to a task that has landed; the status of a refused request."""
    answered = json.loads(scratch.git("show", f"main:{task}.answers.json"))
    return [_text(each["result"]) if "result" in each else each for each in answered]


def _text(result: Any) -> str:  # Any: parsed JSON
    return "".join(part["text"] for part in result["content"])


def tool(name: str, **arguments: object) -> dict[str, object]:
    return {"tool": name, "arguments": arguments}


def test_an_agent_reads_its_task_and_its_limits(scratch: Scratch) -> None:
    plan(scratch, {"a": [tool("my_task")]})
    scratch.interlock("run")
    told = json.loads(answers(scratch)[0])
    assert (told["task"], told["attempt"], told["limits"]["seconds"]) == ("a", 1, 60.0)
    assert "Read numbers" in told["prompt"]


def test_people_see_a_report_while_the_agent_works(scratch: Scratch, gate: Path) -> None:
    plan(scratch, {"a": [tool("report", text="half of it is read"), {"gate": str(gate)}]})
    running = scratch.start("run")
    running.wait_for_line("a: implement started")
    following = scratch.start("logs", "a", "--follow", "--events")
    following.wait_for_line("half of it is read")
    gate.touch()
    assert running.wait() == 0


def test_a_question_is_the_same_fact_as_one_in_the_last_message(scratch: Scratch) -> None:
    plan(scratch, {"a": [tool("ask_person", question="Are strings numbers?")]})
    scratch.interlock("run", code=6)
    (asked,) = scratch.facts("QuestionAsked")
    assert asked["fact"]["text"] == "Are strings numbers?"
    scratch.interlock("answer", "a", "No.")
    assert "Are strings numbers?" in scratch.interlock("prompt", "a", "--attempt", "2")


def test_a_proposal_waits_for_a_person_who_accepts_exactly_what_was_read(scratch: Scratch) -> None:
    plan(scratch, {"a": [tool("propose_task", **PROPOSAL), tool("propose_task", **PROPOSAL)], "split": []})
    scratch.interlock("run")
    assert scratch.states() == {"a": "done"}
    assert "split is proposed already" in answers(scratch)[1]
    (item,) = json.loads(scratch.read("inbox", "--json"))["items"]
    assert (item["kind"], item["id"], item["next"][0]) == ("proposal", "a/split", "interlock accept a/split")
    assert item["text"] == "split: Split the parser\ndone when: test -e split.answers.json"
    scratch.interlock("accept", "a/split")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "split": "done"}
    accepted = scratch.facts("TaskAccepted")[-1]["fact"]
    assert (accepted["parent"], accepted["origin"]) == ("a", {"kind": "parent", "name": "a"})
    assert json.loads(scratch.read("inbox", "--json"))["items"] == []


def test_a_declined_proposal_starts_nothing_and_waits_no_longer(scratch: Scratch) -> None:
    plan(scratch, {"a": [tool("propose_task", **PROPOSAL)]})
    scratch.interlock("run")
    scratch.interlock("accept", "--decline", "split")
    assert json.loads(scratch.read("inbox", "--json"))["items"] == []
    assert "no open proposal `split`" in scratch.interlock("accept", "split", code=2)
    assert scratch.states() == {"a": "done"}


def test_the_answer_to_a_request_for_scope_comes_back_to_the_call(scratch: Scratch) -> None:
    request = tool("request_scope", paths=["notes.md", "../elsewhere"], why="it belongs there")
    plan(scratch, {"a": [request]})
    scratch.interlock("run")
    assert answers(scratch) == ["you may edit notes.md"]
    assert scratch.facts("ScopeRequested")[0]["fact"]["paths"] == ["notes.md"]


def test_a_request_for_a_file_that_steers_the_machine_is_refused(scratch: Scratch) -> None:
    asked = ["interlock.toml", "INTERLOCK.toml", "sub/../task-graph.yaml", ".claude/settings.json", ".vscode"]
    requests = [tool("request_scope", paths=["a.py", path], why="it must be") for path in asked]
    plan(scratch, {"a": requests})
    scratch.interlock("run")
    told = answers(scratch)
    assert len(told) == len(asked)
    for answer in told:
        assert "only a person may change" in answer, told
    assert {row["fact"]["granted"] for row in scratch.facts("ScopeAnswered")} == {False}


@pytest.mark.parametrize("name", ["approve", "accept", "answer", "retry", "add_task", "stop"])
def test_what_a_person_does_is_no_tool_of_an_agent(scratch: Scratch, name: str) -> None:
    assert name not in [each["name"] for each in listing(agent_tools(None))]  # type: ignore[arg-type] # only listed


def test_a_call_without_the_token_of_the_attempt_is_refused(scratch: Scratch) -> None:
    proposes = tool("propose_task", **PROPOSAL)
    plan(scratch, {"a": [{**proposes, "token": token} for token in ("", "another")]})
    scratch.interlock("run")
    assert answers(scratch) == [{"status": 401}, {"status": 401}]
    assert scratch.facts("TaskProposed") == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"id": "../up", "goal": "G"}, "not a name for a task"),
        ({"id": "b", "goal": " "}, "goal has 1 to 4000 characters"),
        ({"id": "b", "goal": "G", "needs": [""]}, "a list has up to 20 entries"),
        ({"id": "b", "goal": "G", "agent": "other"}, "unknown field `agent`"),
        ({"goal": "G"}, "missing required field `id`"),
    ],
    ids=["name", "goal", "list", "more", "less"],
)
@pytest.mark.thorough
def test_a_proposal_that_makes_no_sense_is_refused(
    scratch: Scratch, arguments: dict[str, object], why: str
) -> None:
    plan(scratch, {"a": [tool("propose_task", **arguments)]})
    scratch.interlock("run")
    assert why in answers(scratch)[0]
    assert scratch.facts("TaskProposed") == []


def test_the_tools_of_an_agent_are_few_and_short() -> None:
    told = listing(agent_tools(None))  # type: ignore[arg-type] # only listed
    assert len(told) <= MOST_TOOLS
    assert len(json.dumps(told)) / TOKEN_CHARS <= MOST_TOKENS
