"""`agents`, `logs --events`, `attach` and `say`, with agents that really run (T6)."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.conftest import gate, scratch
from tests.engine.scratch import WAIT, Background, Scratch

__all__ = ["gate", "scratch"]

pytestmark = pytest.mark.slow


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def built_in(scratch: Scratch, model: RunningModel, gate: Path) -> Background:
    """Interlock's own agent at work, waiting at the gate."""
    model.add_script(
        "gated",
        (
            {"op": "shell", "command": f"echo at-work; {WAIT.format(gate=gate)}"},
            {"op": "write", "path": "made.txt", "content": "made\n"},
            {"op": "say", "text": "All done."},
        ),
    )
    scratch.write(
        **{
            "task-graph__yaml": "version: 1\ndefaults: {agent: own}\n"
            f"agents: {{own: {{use: built-in, url: '{model.url('gated')}', model: tiny}}}}\n"
            "tasks: {t: {goal: Make it}}\n"
        },
    )
    scratch.commit()
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "at-work")
    return running


def agents(scratch: Scratch) -> list[dict[str, Any]]:  # Any: parsed JSON
    found: list[dict[str, Any]] = json.loads(scratch.interlock("agents", "--json"))["agents"]
    return found


def test_a_message_reaches_an_agent_that_listens_while_it_works(
    scratch: Scratch, model: RunningModel, gate: Path
) -> None:
    running = built_in(scratch, model, gate)
    said = scratch.interlock("say", "t", "Please", "be brief")
    assert "the agent of t got it, in attempt 1" in said
    gate.touch()
    assert running.wait() == 0
    assert any("Please be brief" in call.body for call in model.calls("gated"))
    delivered = scratch.facts("MessageDelivered")
    assert [fact["fact"]["attempt"] for fact in delivered] == [1]


def test_agents_says_what_runs_where_and_what_it_did_last(
    scratch: Scratch, model: RunningModel, gate: Path
) -> None:
    running = built_in(scratch, model, gate)
    (row,) = agents(scratch)
    assert (row["task"], row["attempt"], row["agent"], row["use"]) == ("t", 1, "own", "built-in")
    assert row["pid"] and Path(f"/proc/{row['pid']}").exists()
    assert row["last"].startswith("runs `echo at-work; ")
    assert row["sandbox"]
    assert row["quiet_seconds"] >= 0
    assert (row["usage"]["input_tokens"], row["usage"]["output_tokens"]) == (1000, 50)
    text = scratch.interlock("agents")
    assert "own: built-in" in text
    assert "1,000 in, 50 out" in text
    assert "own: built-in (tiny)" in scratch.interlock("show", "t")
    assert "at-work" in text
    gate.touch()
    running.wait()
    assert agents(scratch) == []
    assert "no run is active" in scratch.interlock("agents")


def test_an_agent_is_followed_to_its_end(scratch: Scratch, model: RunningModel, gate: Path) -> None:
    running = built_in(scratch, model, gate)
    following = scratch.start("attach", "t")
    following.wait_for_line("at-work")
    gate.touch()
    assert following.wait() == 0
    assert "All done." in following.output
    running.wait()
    printed = scratch.interlock("logs", "t", "--events", "--json").splitlines()
    events = [json.loads(line) for line in printed if line.startswith("{")]
    assert {"tool", "message", "end"} <= {event["kind"] for event in events}
    assert '"event"' in scratch.interlock("logs", "t", "--raw")


def test_a_program_that_only_prints_is_followed_as_it_prints(scratch: Scratch, gate: Path) -> None:
    scratch.graph(
        "  t: {goal: x}\n", f"echo at-work; {WAIT.format(gate=gate)}; echo made > made.txt; echo bye"
    )
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "at-work")
    following = scratch.start("attach", "t")
    following.wait_for_line("at-work")
    gate.touch()
    assert following.wait() == 0
    assert "bye" in following.output
    running.wait()
    assert "the attempt has no session events" in scratch.interlock("logs", "t", "--events")


def test_a_program_that_takes_no_messages_gets_them_with_its_next_prompt(
    scratch: Scratch, gate: Path
) -> None:
    fails_once = f'test "$INTERLOCK_ATTEMPT" = 2 || {{ echo at-work; {WAIT.format(gate=gate)}; exit 1; }}'
    scratch.graph("  t: {goal: x}\n", f'{fails_once}; cp "$INTERLOCK_PROMPT_FILE" got.md')
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "at-work")
    said = scratch.interlock("say", "t", "Use tabs")
    assert "command takes no messages while it runs; the next attempt of t gets it" in said
    assert json.loads(scratch.interlock("say", "t", "and semicolons", "--json"))["delivered"] is False
    gate.touch()
    assert running.wait() == 0
    assert "What people said about this task\n\nUse tabs\n\nand semicolons" in scratch.git(
        "show", "main:got.md"
    )


def test_what_cannot_be_said_is_refused(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    scratch.interlock("run")
    assert "has landed" in scratch.interlock("say", "t", "too late", code=2)
    assert "1 to 4000 characters" in scratch.interlock("say", "t", "x" * 5000, code=2)


def test_a_session_that_nobody_can_go_on_with_is_said_plainly(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x, retries: 0}\n", "exit 1")
    scratch.interlock("run", code=1)
    assert "sessions of command cannot be continued" in scratch.interlock(
        "attach", "t", "--take-over", code=2
    )


def test_a_person_goes_on_where_an_agent_was_stopped(
    scratch: Scratch, gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho half > half.txt\necho at-work\n{WAIT.format(gate=gate)}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    graph = "version: 1\ndefaults: {agent: c}\nagents: {c: {use: claude-code}}\ntasks: {t: {goal: Make it}}\n"
    scratch.write(**{"task-graph__yaml": graph})
    scratch.commit()
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    following = scratch.start("logs", "t", "--raw", "--follow")
    following.wait_for_line("at-work")
    assert "stop it first: interlock cancel t" in scratch.interlock("attach", "t", "--take-over", code=2)
    scratch.interlock("cancel", "t")
    running.wait()
    found = json.loads(scratch.interlock("attach", "t", "--take-over", "--json"))
    checkout, resume = found["commands"]
    subprocess.run(["sh", "-c", checkout], check=True, capture_output=True)
    assert (Path(found["folder"]) / "half.txt").read_text() == "half\n"
    assert resume.endswith(f"claude --resume {found['session']}")
    home = next(word for word in shlex.split(resume) if word.startswith("HOME=")).removeprefix("HOME=")
    assert Path(home).is_dir()
