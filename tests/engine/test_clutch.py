"""The clutch through the real command: it starts with one, opens, brakes, and says why (K1, K2, K3, K6)."""

import json
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repository")
    made.write(interlock__toml="host_brake = false\n")  # how busy this machine is must not matter here
    return made


def pages(scratch: Scratch, *names: str, agent: str = "", **defaults: str) -> None:
    make = agent or 'sleep 0.1; echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
    tasks = "".join(f"  {name}: {{goal: Write {name}, category: docs}}\n" for name in names)
    scratch.graph(tasks, make, **defaults)


def limits(scratch: Scratch) -> list[tuple[int, str]]:
    """What the clutch said of pages, in order."""
    said = [row["fact"] for row in scratch.facts("ClutchDecided")]
    return [(fact["limit"], fact["brake"]) for fact in said if fact.get("category") == "docs"]


def most_at_work(scratch: Scratch) -> int:
    """The greatest number of agents that were at work at once, by the log."""
    at_work, most = 0, 0
    for row in scratch.facts():
        if row["kind"] == "PhaseStarted" and row["fact"]["phase"] == "implement":
            at_work += 1
        elif row["kind"] == "AgentExited":
            at_work -= 1
        most = max(most, at_work)
    return most


def test_an_unknown_kind_of_work_starts_with_one_agent_and_opens_as_it_lands(scratch: Scratch) -> None:
    pages(scratch, *(f"page{number}" for number in range(6)))
    out = scratch.interlock("run", "--max-parallel", "auto")
    said = limits(scratch)
    assert said[:2] == [(1, "cold-start"), (2, "goodput")]
    assert all(later - earlier <= 1 for (earlier, _), (later, _) in zip(said, said[1:], strict=False))
    assert most_at_work(scratch) == max(limit for limit, _ in said)
    assert "nothing is known of this kind of work" in out
    shown = scratch.interlock("clutch")
    assert "docs  0 at work of" in shown
    assert "landed an hour: " in shown
    view = json.loads(scratch.interlock("clutch", "--json"))
    assert [category["category"] for category in view["categories"]] == ["docs"]
    assert view["decisions"][-1]["limit"] == said[-1][0]
