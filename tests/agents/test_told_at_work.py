"""A person's message reaches the real Claude Code while it works: in the sandbox, through `interlock say`."""

from pathlib import Path

import pytest

from tests.agents.model_server import RunningModel
from tests.agents.programs import Driven, script
from tests.agents.workshop import Job, Workshop, run_ended, wait_until
from tests.engine.scratch import Background

pytestmark = [pytest.mark.agents, pytest.mark.slow]

MESSAGE = "Mind the docs, please."
WORKS = (
    {"op": "shell", "command": "touch begun; until test -e go; do sleep 0.1; done; rm begun go"},
    {"op": "write", "path": "made.txt", "content": "made\n"},
    {"op": "say", "text": "All done."},
)


def begun(workshop: Workshop) -> list[Path]:
    """The file by which the agent says that it waits."""
    return list((workshop.state_dir / "workspaces").glob("**/begun"))


@pytest.fixture
def at_work(program: Driven, workshop: Workshop, model: RunningModel) -> Background:
    if program.name != "claude-code":
        pytest.skip("it takes no messages while it works, or has its own tests")
    goal = "Make made.txt. " + script(*WORKS)
    workshop.plan({"make": Job(goal, program.agent(model.url("basic", workshop.name)))}, retries=0)
    run = workshop.start("run")
    wait_until(lambda: begun(workshop) or run.has_ended, "the command that waits")
    assert begun(workshop), f"{run.output}\n{workshop.log('make')[-4000:]}"
    return run


def test_a_message_said_while_it_works_is_in_the_next_call_of_its_model(
    workshop: Workshop, model: RunningModel, at_work: Background
) -> None:
    """It is heard in this very turn, the work goes on, and the program ends by itself."""
    said = workshop.interlock("say", "make", MESSAGE)
    for path in begun(workshop):
        path.with_name("go").touch()
    workshop.until(run_ended)

    assert "got it, in attempt 1" in said
    assert at_work.wait() == 0, at_work.output
    heard = [MESSAGE in call.body for call in model.calls(workshop.name)]
    assert heard[:2] == [False, True]
    assert workshop.git("show", "main:made.txt") == "made"
    (work,) = (row["fact"] for row in workshop.facts("WorkFinished"))
    assert work["usage"]["calls"] == len(heard)
