"""A real program that ends with a question waits for a person, and its own session gets the answer."""

import pytest

from tests.agents.model_server import RunningModel
from tests.agents.programs import Driven, script
from tests.agents.workshop import Job, Workshop

pytestmark = [pytest.mark.agents, pytest.mark.slow]

QUESTION = "Should it accept strings as well?"


def test_a_question_is_answered_in_the_session_that_asked(
    program: Driven, workshop: Workshop, model: RunningModel
) -> None:
    model.add_script("asks", ({"op": "say", "text": f"I looked around.\n\n{QUESTION}"},))
    workshop.plan({"make": Job("Read numbers.", program.agent(model.url("asks", workshop.name)))}, retries=0)
    workshop.interlock("run", code=6)
    (asked,) = (row["fact"] for row in workshop.facts("QuestionAsked"))
    assert QUESTION in asked["text"]
    made = script(
        {"op": "write", "path": "made.txt", "content": "strings\n"}, {"op": "say", "text": "All done."}
    )
    workshop.interlock("answer", "make", f"Yes. {made}")
    workshop.interlock("run")
    assert workshop.git("show", "main:made.txt") == "strings"
    assert workshop.facts("PhaseFailed") == []
    (work,) = (row["fact"] for row in workshop.facts("WorkFinished"))
    if program.can_resume:
        assert work["session"] == asked["session"] != ""
