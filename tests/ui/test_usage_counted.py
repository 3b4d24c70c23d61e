"""Every token is counted: the sum is what the model's server counted, whatever was killed meanwhile."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil
import pytest

from interlock.model.usage import SETTINGS, Usage
from tests.agents.model_server.conversation import usage_of
from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.conftest import scratch
from tests.engine.scratch import WAIT, Background, Scratch

__all__ = ["scratch"]

pytestmark = [pytest.mark.slow, pytest.mark.crash]

PRICES = 'prices."tiny" = {input = 3, output = 15, cache_read = 0.3}\n'


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def plan(scratch: Scratch, model: RunningModel, settings: str, *tasks: str, more: str = "") -> None:
    """Tasks whose agents call their model three times, wait at a gate before the last, and then are done."""
    agents, lines = "", ""
    for name in tasks:
        wait = f"echo waits-{name}; {WAIT.format(gate=scratch.gates / name)}"
        model.add_script(
            name,
            (
                {"op": "write", "path": f"{name}.txt", "content": f"{name}\n"},
                {"op": "shell", "command": wait},
                {"op": "say", "text": "All done."},
            ),
        )
        agents += f"  of-{name}: {{use: built-in, url: '{model.url(name)}/v1', model: tiny}}\n"
        lines += f"  {name}: {{goal: Make it, agent: of-{name}{more}}}\n"
    scratch.write(interlock__toml=settings)
    scratch.write(**{"task-graph__yaml": f"version: 1\nagents:\n{agents}tasks:\n{lines}"})
    scratch.commit()


def counted_by(model: RunningModel, *tasks: str) -> Usage:
    """What the server has answered with, over all attempts."""
    total = Usage()
    for task in tasks:
        for call in model.calls(task):
            told = usage_of(call.step)
            usd = ((told.input - told.cached) * 3 + told.cached * 0.3 + told.output * 15) / 1e6
            total += Usage(told.input, told.output, told.cached, calls=1).priced(usd, SETTINGS)
    return total


def told(document: dict[str, object]) -> Usage:
    found = document["usage"]
    assert isinstance(found, dict)
    return Usage(**found | {"priced_by": tuple(found["priced_by"])})


def assert_same(one: Usage, other: Usage) -> None:
    """To the cent and the token."""
    assert replace(one, cost_usd=None) == replace(other, cost_usd=None)
    assert one.cost_usd == pytest.approx(other.cost_usd)


def at_the_gate(scratch: Scratch, model: RunningModel, calls: int) -> None:
    """Until the model was asked so often, and its agent waits."""
    model.wait_for_calls("t", calls)
    scratch.wait_for_output("t", "waits-t")


def agent_of(task: str) -> psutil.Process:
    """The outermost process inside of the sandbox."""

    def is_it(process: psutil.Process) -> bool:
        try:
            return process.environ().get("INTERLOCK_TASK_ID") == task
        except psutil.Error:
            return False

    return next(one for one in psutil.process_iter() if is_it(one))


def kill_the_run(running: Background, scratch: Scratch) -> None:
    os.kill(running.pid, signal.SIGKILL)
    running.wait()


def kill_the_agent(running: Background, scratch: Scratch) -> None:
    agent_of("t").kill()
    running.wait_for_line("t: implement failed")


@pytest.mark.parametrize("kill", [kill_the_run, kill_the_agent], ids=["run", "agent"])
def test_a_kill_loses_no_token(
    kill: Callable[[Background, Scratch], None], scratch: Scratch, model: RunningModel
) -> None:
    plan(scratch, model, PRICES, "t")
    running = scratch.start("run", "--no-input")
    at_the_gate(scratch, model, 2)
    kill(running, scratch)
    (scratch.gates / "t").touch()
    if running.has_ended:
        running = scratch.start("run", "--no-input")
    assert running.wait() == 0, running.output

    attempts = {fact["fact"]["attempt"] for fact in scratch.facts("SessionOpened")}
    assert len(attempts) > 1
    assert_same(told(scratch.status()), counted_by(model, "t"))


def test_a_cancelled_task_is_paid_for(scratch: Scratch, model: RunningModel) -> None:
    plan(scratch, model, PRICES, "t", "u")
    running = scratch.start("run", "--no-input")
    at_the_gate(scratch, model, 2)
    model.wait_for_calls("u", 2)
    scratch.wait_for_output("u", "waits-u")
    scratch.interlock("cancel", "u")
    (scratch.gates / "t").touch()
    running.wait()

    assert scratch.states() == {"t": "done", "u": "cancelled"}
    assert_same(told(scratch.status()), counted_by(model, "t", "u"))
    assert_same(told(json.loads(scratch.read("report", "--json"))), counted_by(model, "t", "u"))
