"""A question of an agent is a question: its task waits for a person, through the real command."""

import json
import shutil

import pytest

from tests.engine.scratch import Scratch
from tests.engine.test_agent_sessions import Model, claude, model, plan

__all__ = ["claude", "model"]

pytestmark = pytest.mark.slow

QUESTION = "Should it accept strings as well?"
ASKS = f"""
if grep -q "A person answered" "$INTERLOCK_PROMPT_FILE"; then
  grep -A2 "A person answered" "$INTERLOCK_PROMPT_FILE" | tail -1 > answer.txt
else
  echo "I read the code."; echo; echo "{QUESTION}"
fi
"""
OFFERS = 'echo done > done.txt; echo "All done. Shall I also write tests?"'
HALF_WAY = """
if grep -q "A person answered" "$INTERLOCK_PROMPT_FILE"; then echo whole > made.txt; else
  echo half > made.txt; echo "::interlock ask Postgres or sqlite"
fi
"""


def test_a_question_waits_for_a_person_and_its_answer_reaches_the_next_attempt(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Read numbers}\n  b: {goal: Needs it, needs: [a]}\n", ASKS, retries="0")
    out = scratch.interlock("run", code=6)
    assert f'a: asks: {QUESTION}. Next: interlock answer a "..."' in out
    assert "next: interlock inbox" in out
    assert scratch.facts("PhaseFailed", "TaskFailed") == []
    assert scratch.states() == {"a": "waiting", "b": "waiting"}
    row = next(row for row in scratch.status()["tasks"] if row["id"] == "a")
    assert (row["reason"]["code"], row["question"], row["next"]) == (
        "answer",
        QUESTION,
        'interlock answer a "..."',
    )
    assert f"a is waiting: asks: {QUESTION}" in scratch.interlock("explain", "a")
    assert f"a is waiting: asks: {QUESTION}" in scratch.interlock("explain", "b")
    (item,) = json.loads(scratch.interlock("inbox", "--json"))["items"]
    assert (item["kind"], item["task"], item["id"]) == ("question", "a", "a/1")
    assert item["next"][0] == 'interlock answer a "..."'
    scratch.interlock("run", code=6)  # nothing starts by itself
    assert len(scratch.facts("SessionOpened")) == 1

    assert "next: interlock run" in scratch.interlock("answer", "a", "yes, strings as well")
    scratch.interlock("status", "--exit-code", code=1)
    scratch.interlock("run", code=6)  # b asks, too
    assert scratch.git("show", "main:answer.txt") == "yes, strings as well"
    scratch.interlock("retry", "b", "-m", "no")
    scratch.interlock("run")
    assert scratch.git("show", "main:answer.txt") == "no"
    assert scratch.interlock("inbox") == "your inbox is empty\n"


def test_an_offer_after_a_change_does_not_hold_it_up(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Make it}\n", OFFERS)
    scratch.interlock("run")
    assert scratch.git("show", "main:done.txt") == "done"
    assert scratch.facts("QuestionAsked") == []


def test_an_explicit_question_keeps_what_was_made_so_far(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Make it}\n", HALF_WAY)
    scratch.interlock("run", code=6)
    (asked,) = scratch.facts("QuestionAsked")
    assert asked["fact"]["text"] == "Postgres or sqlite"
    assert scratch.git("show", f"{asked['fact']['archived']}:made.txt") == "half"
    assert "made.txt" not in scratch.git("ls-tree", "--name-only", "main")
    scratch.interlock("answer", "a", "sqlite")
    scratch.interlock("run")
    assert scratch.git("show", "main:made.txt") == "whole"


def test_a_question_can_be_given_up_or_made_pointless(scratch: Scratch) -> None:
    tasks = "  a: {goal: Read numbers}\n  b: {goal: Read more}\n"
    scratch.graph(tasks, ASKS)
    scratch.interlock("run", code=6)
    scratch.interlock("cancel", "b")
    scratch.graph(tasks.replace("numbers", "numbers and strings"), 'echo "$INTERLOCK_TASK_ID" > made.txt')
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "done", "b": "cancelled"}


@pytest.mark.sandbox
@pytest.mark.usefixtures("claude")
def test_an_answer_goes_into_the_session_that_asked(scratch: Scratch, model: Model) -> None:
    plan(scratch, model, f"Read numbers\nask {QUESTION}")
    scratch.interlock("run", code=6)
    (asked,) = scratch.facts("QuestionAsked")
    assert asked["fact"]["usage"]["output_tokens"] == 50
    assert "You ended with a question" not in scratch.interlock("prompt", "t", "--attempt", "1")
    scratch.interlock("answer", "t", "both")
    assert "You ended with a question" in scratch.interlock("prompt", "t")
    scratch.interlock("run")
    session, has_diary = scratch.git("show", "main:resumed.txt").split()[:2]
    assert (session, has_diary) == (asked["fact"]["session"], "True")


@pytest.mark.sandbox
@pytest.mark.usefixtures("claude")
def test_a_session_that_is_gone_starts_afresh_without_costing_an_attempt(
    scratch: Scratch, model: Model
) -> None:
    plan(scratch, model, f"Read numbers\nask {QUESTION}", retries=0)
    scratch.interlock("run", code=6)
    shutil.rmtree(scratch.root / ".git/interlock/homes/t")
    scratch.interlock("answer", "t", "both")
    assert "t: cannot resume its session; starting a new one" in scratch.interlock("run")
    assert scratch.facts("PhaseFailed") == []
    asked, resumed, afresh = (row["fact"] for row in scratch.facts("SessionOpened"))
    assert (resumed["session"], resumed["attempt"]) == (asked["session"], 2)
    assert (afresh["session"] == asked["session"], afresh["attempt"]) == (False, 2)
    assert scratch.git("show", "main:made.txt").split()[0] == afresh["session"]
    assert "An earlier session on this task is gone" in scratch.interlock("prompt", "t", "--attempt", "2")
