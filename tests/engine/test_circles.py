"""An agent that goes round in circles, through the real command (A18)."""

import time
from collections.abc import Iterator

import pytest

from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
WITHIN_SECONDS = 60


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def test_a_looping_agent_is_stopped_and_its_cost_is_told(scratch: Scratch, model: RunningModel) -> None:
    model.add_script("circle", ({"op": "shell", "command": "cat missing.txt"},) * 100)
    scratch.write(interlock__toml='prices."tiny" = {input = 3, output = 15}\n')
    agent = f"{{use: built-in, url: '{model.url('circle')}/v1', model: tiny}}"
    task = "t: {goal: Make it, agent: a, retries: 0}"
    scratch.write(**{"task-graph__yaml": f"version: 1\nagents: {{a: {agent}}}\ntasks: {{{task}}}\n"})
    scratch.commit()
    began = time.monotonic()
    scratch.interlock("run", "--no-input", code=1)
    assert time.monotonic() - began < WITHIN_SECONDS
    (failed,) = [row["fact"] for row in scratch.facts("PhaseFailed")]
    assert failed["error"] == "no-progress"
    fields, used = failed["why"]["fields"], failed["usage"]
    assert (fields["what"], fields["tokens"]) == ("calls", used["input_tokens"] + used["output_tokens"])
    assert fields["cost_usd"] == pytest.approx(used["cost_usd"])
    assert 12 <= len(model.calls("circle")) <= 20
    said = scratch.interlock("explain", "t")
    assert "it went round in circles: 12 tool calls in a row brought nothing new" in said
