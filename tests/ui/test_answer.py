"""Agents that ask before they act, or end with a question, are answered from another terminal."""

import asyncio

import pytest

from interlock.engine.loading import load_state
from interlock.events.facts import (
    AgentExited,
    Paused,
    PermissionAnswered,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
)
from interlock.events.state import State
from interlock.model.claim import task_resource
from interlock.model.task import TaskId
from interlock.store import open_store
from interlock.ui.queries.inbox import items
from interlock.ui.reading import Reading
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
    assert "the agent of api has no open question" in again.err


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
        assert "waits for permission: execute make c1 (and 1 more)" in out
        assert "interlock answer api allow" in out
    assert lab.run("agents", "--json").json["agents"][0]["asks"] == "execute make c1 (and 1 more)"
    lab.run("answer", "api", "allow")
    for words in (["status"], ["show", "api"], ["agents"]):
        assert "waits for permission" not in lab.run(*words).out


def wonders(lab: Lab, name: str = "api") -> None:
    """The agent of a task ended with a question."""
    epoch = lab.start(name).epoch
    message = "I read it.\n\nStrings, too?"
    lab.write(QuestionAsked(TaskId(name), 1, "implement", epoch, text="Strings, too?", message=message))
    lab.release(task_resource(name))


def test_a_question_is_on_every_screen_until_it_is_answered(lab: Lab) -> None:
    lab.accept(task("api"), task("web", "api"))
    wonders(lab)
    for words in (["status"], ["explain", "api"], ["explain", "web"], ["show", "api"], ["inbox"]):
        assert "Strings, too?" in lab.run(*words).out, words
    assert 'interlock answer api "..."' in lab.run("inbox").out
    assert lab.run("status", "--exit-code").code == lab.run("wait").code == lab.run("wait", "api").code == 6
    result = lab.run("answer", "api", "yes,", "please")
    assert (result.code, result.out) == (0, "the next attempt of api gets it\nnext: interlock run\n")
    assert lab.facts()[-1] == QuestionAnswered(API, 1, "yes, please")
    assert lab.run("inbox").out == "your inbox is empty\n"
    assert lab.run("status", "--exit-code").code == 1
    assert "a person answered: yes, please" in lab.run("show", "api").out
    assert "answered its question: yes, please" in lab.run("explain", "api").out
    assert "A person answered:\n\nyes, please" in lab.run("prompt", "api").out
    assert lab.run("answer", "api", "no").code == 2


def test_retry_with_a_note_answers_and_without_one_says_what_is_asked(lab: Lab) -> None:
    lab.accept(task("api"))
    wonders(lab)
    refused = lab.run("retry", "api")
    assert refused.code == 2
    assert "api waits for your answer: Strings, too?" in refused.err
    assert 'hint: interlock answer api "..."' in refused.err
    assert lab.run("retry", "api", "-m", "only numbers").code == 0
    assert lab.facts()[-1] == QuestionAnswered(API, 1, "only numbers")


def test_what_is_said_to_a_task_that_asks_does_not_start_it(lab: Lab) -> None:
    lab.accept(task("api"))
    wonders(lab)
    assert 'interlock answer api "..." starts it' in lab.run("say", "api", "be quick").out


def test_a_failure_beside_a_question_is_still_a_failure(lab: Lab) -> None:
    lab.accept(task("api"), task("web"))
    wonders(lab)
    lab.fail("web", "exit 1")
    assert lab.run("status", "--exit-code").code == 1
    kinds = [(item["kind"], item["task"]) for item in lab.run("inbox", "--json").json["items"]]
    assert kinds == [("question", "api"), ("failed", "web")]


def test_the_inbox_has_permissions_and_pauses_with_their_commands(lab: Lab) -> None:
    asked(lab, "c1")
    lab.write(Paused(why="deploying"))
    permission, paused = lab.run("inbox", "--json").json["items"]
    assert (permission["id"], permission["text"]) == ("api/1/c1", "execute make c1")
    assert permission["next"] == ["interlock answer api allow", "interlock answer api deny"]
    assert (paused["text"], paused["next"]) == ("deploying", ["interlock unpause"])
    wrong = lab.run("answer", "api", "perhaps")
    assert (wrong.code, "allow, deny" in wrong.err) == (2, True)


def test_an_edited_task_does_not_wait_for_the_answer_to_an_old_question(lab: Lab) -> None:
    lab.accept(task("api"))
    wonders(lab)
    lab.accept(task("api", priority=1))
    assert lab.run("inbox").out == "your inbox is empty\n"


def test_the_inbox_has_the_order_of_the_graph_also_for_a_task_that_was_packed_meanwhile(lab: Lab) -> None:
    lab.accept(task("api"), task("web"))
    lab.fail("api", "it broke")
    lab.fail("web", "it broke")
    state = asyncio.run(state_of(lab))
    state.tasks[API] = state.tasks.pop(API)  # as packing and recalling it does
    assert [item.task for item in items(Reading(state, state.time, None, {}))] == ["api", "web"]


async def state_of(lab: Lab) -> State:
    store = open_store(lab.log, "lab")
    try:
        return await load_state(store)
    finally:
        await store.close()
