"""Whatever ends a session, its notes are saved and SessionEnd is told once (W13, D10)."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.hooks.conftest import OwnHooks

pytestmark = pytest.mark.slow


def notes(scratch: Scratch, task: str = "t", attempt: int = 1) -> dict[str, Any]:  # Any: parsed JSON
    path = scratch.root / ".git/interlock" / "logs" / task / f"{attempt}.notes.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def pid_of(scratch: Scratch) -> int:
    agents = json.loads(scratch.interlock("agents", "--json"))["agents"]
    return int(agents[0]["pid"])


def test_a_session_that_ended_well(scratch: Scratch, own_hooks: OwnHooks) -> None:
    own_hooks.write(
        SessionStart=own_hooks.record, UserPromptSubmit=own_hooks.record, SessionEnd=own_hooks.record
    )
    scratch.graph("  t: {goal: x}\n", "echo made > made.txt; echo All is well.")
    scratch.interlock("run")
    assert own_hooks.moments() == ["SessionStart", "UserPromptSubmit", "SessionEnd done"]
    page = notes(scratch)
    assert (page["reason"], page["summary"], page["files"]) == ("done", "All is well.", ["made.txt"])
    assert (scratch.root / ".git/interlock" / page["transcript"]).exists()
    shown = scratch.interlock("show", "t")
    assert "notes .git/interlock/logs/t/1.notes.json: All is well." in shown


def test_a_session_that_failed_is_told_of_in_the_next_prompt(scratch: Scratch, own_hooks: OwnHooks) -> None:
    own_hooks.write(SessionEnd=own_hooks.record)
    agent = 'echo one > one.txt; test "$INTERLOCK_ATTEMPT" = 2 || { echo I am stuck.; exit 3; }'
    scratch.graph("  t: {goal: x}\n", agent)
    scratch.interlock("run")
    assert own_hooks.moments() == ["SessionEnd agent-exit", "SessionEnd done"]
    page = notes(scratch)
    assert (page["exit_code"], page["files"]) == (3, ["one.txt"])
    assert "The last words of the agent of attempt 1:\n\n```text\nI am stuck.\n```" in scratch.interlock(
        "prompt", "t", "--attempt", "2"
    )


@pytest.mark.thorough
def test_a_session_that_took_too_long(scratch: Scratch, own_hooks: OwnHooks, gate: Path) -> None:
    """A1: the time limit of an attempt."""
    own_hooks.write(SessionEnd=own_hooks.record)
    scratch.graph("  t: {goal: x, timeout: 4s, retries: 0}\n", f"echo waiting; {WAIT.format(gate=gate)}")
    scratch.interlock("run", code=1)
    assert own_hooks.moments() == ["SessionEnd timeout"]
    assert (notes(scratch)["reason"], notes(scratch)["summary"]) == ("timeout", "waiting")


def test_a_session_whose_agent_was_killed(scratch: Scratch, own_hooks: OwnHooks) -> None:
    own_hooks.write(SessionEnd=own_hooks.record)
    scratch.graph("  t: {goal: x, retries: 0}\n", "echo here; kill -9 $$")
    scratch.interlock("run", code=1)
    assert own_hooks.moments() == ["SessionEnd agent-exit"]
    assert "signal 9" in notes(scratch)["ended"]


def test_a_session_that_a_person_stopped(scratch: Scratch, own_hooks: OwnHooks, gate: Path) -> None:
    own_hooks.write(SessionEnd=own_hooks.record)
    scratch.graph("  t: {goal: x}\n", f"echo half > half.txt; echo at it; {WAIT.format(gate=gate)}")
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "at it")
    scratch.interlock("cancel", "t")
    running.wait()
    assert own_hooks.moments() == ["SessionEnd stopped"]
    page = notes(scratch)
    assert (page["reason"], page["summary"]) == ("stopped", "at it")
    assert scratch.git("show", f"{page['kept']}:half.txt") == "half"


def test_a_session_whose_engine_died_is_closed_by_the_next_run(
    scratch: Scratch, own_hooks: OwnHooks, gate: Path
) -> None:
    """A2."""
    own_hooks.write(SessionEnd=own_hooks.record)
    wait = f'test "$INTERLOCK_ATTEMPT" = 2 || {{ echo at it; {WAIT.format(gate=gate)}; }}'
    scratch.graph("  t: {goal: x}\n", f"echo half > half.txt; {wait}")
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "at it")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not own_hooks.heard.exists()
    scratch.interlock("run")
    assert own_hooks.moments() == ["SessionEnd lost", "SessionEnd done"]
    page = notes(scratch)
    assert (page["reason"], page["summary"]) == ("lost", "at it")
    assert page["kept"]
    assert "session ended without a result: lost" in scratch.interlock("prompt", "t", "--attempt", "2")


def test_a_hook_that_objects_keeps_an_agent_from_starting(scratch: Scratch, own_hooks: OwnHooks) -> None:
    own_hooks.write(UserPromptSubmit="echo not on Sundays >&2; exit 2", SessionEnd=own_hooks.record)
    scratch.graph("  t: {goal: x, retries: 0}\n", "echo started > started.txt")
    said = scratch.interlock("run", code=1)
    assert "a hook of yours kept it from starting: not on Sundays" in said
    assert own_hooks.moments() == ["SessionEnd denied"]
    assert "started.txt" not in scratch.git("log", "--all", "--name-only", "--format=")
