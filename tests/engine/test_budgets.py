"""Budgets through the real command, the real proxy and a scripted model (W11)."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.scratch import Scratch
from tests.ui.test_usage_counted import PRICES, assert_same, counted_by, plan, told

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

FIRST_CALL = 9_000
"""About the most tokens of the first call: the request, and the longest usual answer."""


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def open_gates(scratch: Scratch, *tasks: str) -> None:
    for task in tasks:
        (scratch.gates / task).touch()


def assert_paid(scratch: Scratch, model: RunningModel, *tasks: str) -> None:
    """What is settled is what the server has counted."""
    assert_same(told(scratch.status()), counted_by(model, *tasks))


def test_a_budget_that_is_used_up_starts_no_agent_and_ends_with_5(
    scratch: Scratch, model: RunningModel
) -> None:
    plan(scratch, model, PRICES + f"budget_tokens = {{project = {FIRST_CALL + 3_000}}}\n", "a", "b", "c")
    open_gates(scratch, "a", "b", "c")
    said = scratch.interlock("run", "--no-input", "--max-parallel", "1", code=5)
    assert "b: implement postponed: the budget of the project is used up" in said
    assert scratch.states() == {"a": "done", "b": "waiting", "c": "waiting"}
    assert not model.calls("b")  # refused before it was forwarded
    assert not [row for row in scratch.facts("PhaseStarted") if row["fact"]["task"] == "c"]
    assert "the budget of the project is used up" in scratch.interlock("explain", "c")
    assert "project  3.5k tokens used, of 12.0k tokens" in scratch.interlock("budget")

    scratch.interlock("run", "--no-input", code=5)
    assert "no budget of tokens for the day" in scratch.interlock(
        *("budget", "--add-tokens", "1", "--of", "day"), code=2
    )
    assert "added 30.0k tokens to the budget of the project" in scratch.interlock(
        "budget", "--add-tokens", "30000"
    )
    scratch.interlock("run", "--no-input")
    assert set(scratch.states().values()) == {"done"}
    assert_paid(scratch, model, "a", "b", "c")


def test_a_live_run_takes_up_what_is_added(scratch: Scratch, model: RunningModel) -> None:
    plan(scratch, model, PRICES + f"budget_tokens = {{run = {FIRST_CALL + 3_000}}}\n", "a", "b")
    running = scratch.start("run", "--no-input", "--max-parallel", "2")
    running.wait_for_line("is used up")  # both reserve, and one has to wait
    assert sum(state == "running" for state in scratch.states().values()) == 1
    scratch.interlock("budget", "--add-tokens", "50000", "--of", "run")
    model.wait_for_calls("a", 2)
    model.wait_for_calls("b", 2)
    open_gates(scratch, "a", "b")
    assert running.wait() == 0, running.output
    assert_paid(scratch, model, "a", "b")


def test_an_attempt_that_uses_its_budget_up_fails_and_others_go_on(
    scratch: Scratch, model: RunningModel
) -> None:
    settings = PRICES + "budget_usd = {attempt = 0.13, day = 5}\n"
    plan(scratch, model, settings, "a", "b", more=", retries: 1")
    open_gates(scratch, "a", "b")
    scratch.interlock("run", "--no-input", code=1)
    failures = [row["fact"] for row in scratch.facts("PhaseFailed")]
    assert {fact["error"] for fact in failures} == {"budget"}
    assert {fact["why"]["fields"]["budget"] for fact in failures} == {"attempt"}
    assert all(fact["usage"]["cost_usd"] <= 0.13 for fact in failures)
    assert_paid(scratch, model, "a", "b")


def test_money_cannot_be_limited_where_the_price_is_unknown(scratch: Scratch, model: RunningModel) -> None:
    """A gateway on this machine to a paid provider whose price nobody said."""
    settings = 'prices."other" = {input = 3, output = 15}\nbudget_usd = {run = 5}\n'
    plan(scratch, model, settings, "a")
    open_gates(scratch, "a")
    scratch.interlock("run", "--no-input")  # local, so it costs nothing
    assert told(scratch.status()).cost_usd == 0.0
    assert json.loads(scratch.read("budget", "--json"))["budgets"][0]["spent_usd"] == 0.0


@pytest.mark.crash
def test_a_kill_loses_no_cent_and_no_budget(scratch: Scratch, model: RunningModel) -> None:
    plan(scratch, model, PRICES + "budget_usd = {project = 0.5}\nbudget_tokens = {project = 100000}\n", "a")
    running = scratch.start("run", "--no-input")
    model.wait_for_calls("a", 2)
    scratch.wait_for_output("a", "waits-a")
    (row,) = json.loads(scratch.read("budget", "--json"))["budgets"]
    assert row["reserved_usd"] > 0
    assert row["spent_usd"] == 0
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    open_gates(scratch, "a")
    scratch.interlock("run", "--no-input")
    (row,) = json.loads(scratch.read("budget", "--json"))["budgets"]
    assert row["reserved_usd"] == 0
    assert row["spent_usd"] == pytest.approx(counted_by(model, "a").cost_usd)
    assert_paid(scratch, model, "a")


CODEX = """\
#!/bin/sh
if test "$1" = --version; then echo "codex-cli 0.166.0"; exit; fi
echo '{"type":"thread.started","thread_id":"t"}'
echo x > "$INTERLOCK_TASK_ID.txt"
echo '{"type":"turn.completed","usage":{"input_tokens":4000,"output_tokens":2000}}'
exec sleep 600
"""


def test_a_program_with_its_own_login_is_stopped_when_it_tells_its_use(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = scratch.gates / "codex"
    program.write_text(CODEX)
    program.chmod(0o755)
    (tmp_path / "user/.codex").mkdir(parents=True)
    (tmp_path / "user/.codex/auth.json").write_text("{}")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PATH", str(scratch.gates), prepend=":")
    scratch.write(interlock__toml="budget_tokens = {project = 5000}\n")
    agents = "defaults: {agent: mine}\nagents:\n  mine: {use: codex, login: true}\n"
    scratch.write(**{"task-graph__yaml": f"version: 1\n{agents}tasks:\n  t: {{goal: Do}}\n"})
    scratch.commit("work to do")
    scratch.interlock("run", "--no-input", code=5)
    (ended,) = [row["fact"] for row in scratch.facts("PhaseDeferred")]
    assert ended["why"]["fields"]["budget"] == "project"
    assert ended["usage"]["input_tokens"] == 4000
    assert "its calls bypass the proxy" in scratch.interlock("doctor", code=None)
