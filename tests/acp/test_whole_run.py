"""`interlock run` with an agent that asks, and a person at another terminal."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acp.bench import FAKE
from tests.engine.scratch import Background, Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "repository")
    agent = shutil.copy(FAKE, made.gates)
    graph = f"""\
version: 1
defaults: {{agent: fake, timeout: 60s, retries: 0}}
agents:
  fake: {{use: acp, run: ["{sys.executable}", "{agent}"], permissions: ask}}
tasks:
  hello: {{goal: "@ask"}}
"""
    made.write(**{"task-graph__yaml": graph})
    made.commit()
    yield made
    made.close()


def asked(scratch: Scratch, run: Background) -> None:
    """Until the agent's question is in the log."""
    run.wait_for_line("implement started")
    following = scratch.start("events", "--follow")
    following.wait_for_line("PermissionAsked")
    following.close()


def test_a_person_allows_what_the_agent_asks_and_the_work_lands(scratch: Scratch) -> None:
    run = scratch.start("run")
    asked(scratch, run)
    assert scratch.interlock("answer", "hello", "allow") == "the agent of hello may: edit Write hello.txt\n"
    assert run.wait() == 0, run.output
    assert scratch.git("show", "main:hello.txt") == "hello"
    assert [row["kind"] for row in scratch.facts("PermissionAsked", "PermissionAnswered")] == [
        "PermissionAsked",
        "PermissionAnswered",
    ]


@pytest.mark.thorough
def test_what_a_person_denies_fails_the_task_with_that_reason(scratch: Scratch) -> None:
    run = scratch.start("run")
    asked(scratch, run)
    scratch.interlock("answer", "hello", "deny")
    assert run.wait() != 0
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["error"] == "denied"
