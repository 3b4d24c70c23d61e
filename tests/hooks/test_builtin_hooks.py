"""The user's hooks have a say in what Interlock's own agent does, through the real command (W13)."""

import json
from collections.abc import Iterator

import pytest

from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.scratch import Scratch
from tests.hooks.conftest import OwnHooks

pytestmark = pytest.mark.slow

DONE = {"op": "say", "text": "All done."}
WRITE = {"op": "write", "path": "made.txt", "content": "made\n"}


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def plan(scratch: Scratch, model: RunningModel, *steps: dict[str, str]) -> None:
    model.add_script("hooked", steps)
    agent = {"use": "built-in", "url": model.url("hooked"), "model": "tiny"}
    graph = {
        "version": 1,
        "defaults": {"agent": "own", "retries": 0},
        "agents": {"own": agent},
        "tasks": {"t": {"goal": "Make it"}},
    }
    scratch.write(**{"task-graph__yaml": json.dumps(graph)})
    scratch.commit()


def test_an_agent_that_heeds_an_objection_and_ends_well_has_succeeded(
    scratch: Scratch, own_hooks: OwnHooks, model: RunningModel
) -> None:
    objects = "grep -q 'touch gone' && { echo 'no touching' >&2; exit 2; }; exit 0"
    own_hooks.write(PreToolUse=objects)
    plan(scratch, model, {"op": "shell", "command": "touch gone"}, WRITE, DONE)
    scratch.interlock("run")
    assert scratch.git("ls-tree", "--name-only", "main").split() == ["made.txt", "task-graph.yaml"]
    events = (scratch.root / ".git/interlock/logs/t/1.events.jsonl").read_text().splitlines()
    (denied,) = [event for line in events if (event := json.loads(line))["kind"] == "denied"]
    assert (denied["tool"], denied["text"]) == ("bash", "no touching")


def test_an_agent_that_was_kept_from_all_it_wanted_was_denied(
    scratch: Scratch, own_hooks: OwnHooks, model: RunningModel
) -> None:
    own_hooks.write(PreToolUse="echo 'hands off' >&2; exit 2")
    plan(scratch, model, WRITE, DONE)
    scratch.interlock("run", code=1)
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["error"] == "denied"
    assert "hands off" in failed["reason"]["text"]


def test_an_end_that_a_hook_objects_to_is_not_the_end(
    scratch: Scratch, own_hooks: OwnHooks, model: RunningModel
) -> None:
    once = "grep -q '\"stop_hook_active\": false' && { echo 'look again' >&2; exit 2; }; exit 0"
    own_hooks.write(Stop=f"tee -a '{own_hooks.heard}' | {{ {once}; }}")
    plan(scratch, model, WRITE, DONE)
    scratch.interlock("run")
    assert own_hooks.heard.read_text().count("stop_hook_active") == 2
    assert scratch.git("show", "main:made.txt") == "made"
