"""Hooks that the real Claude Code asks from inside its sandbox, before it acts (W13)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.agent_programs import command
from tests.agents.model_server.running import RunningModel, running_model
from tests.agents.programs import CHOSEN_BY, chosen
from tests.engine.scratch import Scratch
from tests.hooks.conftest import OwnHooks

pytestmark = [pytest.mark.agents, pytest.mark.slow, pytest.mark.sandbox]

OBJECT = "grep -q forbidden && { echo keep away from that >&2; exit 2; }; exit 0"


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is on the PATH, and a key is in the environment."""
    if "claude-code" not in chosen():
        pytest.skip(f"claude-code is not among {CHOSEN_BY}")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(command("claude-code")[-1])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("SCRIPTED_MODEL_KEY", "sk-scripted")


def graph(scratch: Scratch, model: RunningModel, *ops: dict[str, str]) -> None:
    agent = {"use": "claude-code", "url": model.url(), "key_env": "SCRIPTED_MODEL_KEY", "model": "sonnet"}
    goal = f"<<<SCRIPT {json.dumps(ops)} >>>"
    plan = {
        "version": 1,
        "defaults": {"agent": "c", "retries": 0},
        "agents": {"c": agent},
        "tasks": {"t": {"goal": goal}},
    }
    scratch.write(**{"task-graph__yaml": json.dumps(plan)})
    scratch.commit()


@pytest.mark.usefixtures("claude")
def test_an_objection_keeps_claude_code_from_using_a_tool_and_it_goes_on_with_the_rest(
    scratch: Scratch, own_hooks: OwnHooks, model: RunningModel
) -> None:
    own_hooks.write(
        PreToolUse=OBJECT, PostToolUse=own_hooks.record, Stop=own_hooks.record, SessionEnd=own_hooks.record
    )
    graph(
        scratch,
        model,
        {"op": "shell", "command": "touch forbidden.txt"},
        {"op": "shell", "command": "touch allowed.txt"},
        {"op": "say", "text": "All done."},
    )
    scratch.interlock("run")
    assert scratch.git("ls-tree", "--name-only", "main").split() == ["allowed.txt", "task-graph.yaml"]
    assert own_hooks.moments() == ["PostToolUse", "Stop", "SessionEnd done"]
    log = (scratch.root / ".git/interlock/logs/t/1.hooks.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in log if "PreToolUse" in line]
    assert [(one["blocks"], one["reason"]) for one in asked] == [(True, "keep away from that"), (False, "")]
    assert any("keep away from that" in call.body for call in model.calls("basic"))


@pytest.mark.usefixtures("claude")
def test_an_objection_to_its_end_makes_claude_code_work_on(
    scratch: Scratch, own_hooks: OwnHooks, model: RunningModel, tmp_path: Path
) -> None:
    once = tmp_path / "asked"
    own_hooks.write(Stop=f"test -e '{once}' || {{ touch '{once}'; echo and the docs >&2; exit 2; }}")
    graph(scratch, model, {"op": "shell", "command": "echo x >> made.txt"}, {"op": "say", "text": "Done."})
    scratch.interlock("run")
    assert any("and the docs" in call.body for call in model.calls("basic"))
    assert scratch.git("show", "main:made.txt")
