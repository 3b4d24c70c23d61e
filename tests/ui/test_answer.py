"""An agent that asks before it acts is answered from another terminal (T6, P2)."""

import pytest

from interlock.events.facts import AgentExited, PermissionAnswered, PermissionAsked
from interlock.model.task import TaskId
from tests.ui.conftest import Lab, task

API = TaskId("api")


def asked(lab: Lab, *calls: str) -> int:
    """A run is going on, and the agent of `api` waits for leave; under which epoch."""
    lab.accept(task("api"))
    lab.take_charge()
    epoch = lab.start("api").epoch
    for call in calls:
        lab.write(PermissionAsked(API, 1, "implement", epoch, call, "execute", f"make {call}"))
    return epoch


@pytest.mark.parametrize(("word", "may"), [("allow", "may"), ("deny", "may not")])
def test_everything_that_is_asked_is_answered_at_once(lab: Lab, word: str, may: str) -> None:
    asked(lab, "c1", "c2")
    result = lab.run("answer", "api", word)
    assert (result.code, result.out) == (
        0,
        f"the agent of api {may}: execute make c1\nthe agent of api {may}: execute make c2\n",
    )
    allow = word == "allow"
    assert lab.facts()[-2:] == [
        PermissionAnswered(API, 1, "c1", allow),
        PermissionAnswered(API, 1, "c2", allow),
    ]


def test_an_answer_is_given_once(lab: Lab) -> None:
    asked(lab, "c1")
    assert lab.run("answer", "api", "allow", "--json").json["answered"] == [
        {"call": "c1", "tool": "execute", "text": "make c1"}
    ]
    again = lab.run("answer", "api", "deny")
    assert again.code == 2
    assert "the agent of api asks nothing" in again.err


def test_a_question_of_an_agent_that_has_ended_is_not_open(lab: Lab) -> None:
    epoch = asked(lab, "c1")
    lab.write(AgentExited(API, 1, "implement", epoch))
    assert lab.run("answer", "api", "allow").code == 2


def test_nobody_asks_where_no_agent_works(lab: Lab) -> None:
    lab.accept(task("api"))
    result = lab.run("answer", "api", "allow")
    assert result.code == 2
    assert "hint: interlock show api" in result.err


def test_a_question_is_on_every_screen_with_the_command_that_answers_it(lab: Lab) -> None:
    asked(lab, "c1", "c2")
    for words in (["status"], ["show", "api"], ["agents"]):
        out = lab.run(*words).out
        assert "asks leave: execute make c1 (and 1 more)" in out
        assert "interlock answer api allow" in out
    assert lab.run("agents", "--json").json["agents"][0]["asks"] == "execute make c1 (and 1 more)"
    lab.run("answer", "api", "allow")
    for words in (["status"], ["show", "api"], ["agents"]):
        assert "asks leave" not in lab.run(*words).out
