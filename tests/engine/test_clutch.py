"""The clutch through the real command: it starts with one, opens, brakes, says why (K1, K2, K3, K6, P6)."""

import json
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from bench.provider import AGENT, HiddenLimit, serving
from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repository")


def pages(scratch: Scratch, *names: str, agent: str = "", **defaults: str) -> None:
    make = agent or 'sleep 0.1; echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
    tasks = "".join(f"  {name}: {{goal: Write {name}, category: docs}}\n" for name in names)
    scratch.graph(tasks, make, **defaults)


def limits(scratch: Scratch) -> list[tuple[int, str]]:
    """What the clutch said of pages, in order."""
    said = [row["fact"] for row in scratch.facts("ClutchDecided")]
    return [(fact["limit"], fact["brake"]) for fact in said if fact.get("category") == "docs"]


def at_each_start(scratch: Scratch) -> list[tuple[int, int]]:
    """How many agents were at work with each new one, and how many the clutch allowed then, by the log."""
    at_work, limit, found = 0, 0, []
    for row in scratch.facts():
        if row["kind"] == "ClutchDecided" and row["fact"].get("category"):
            limit = row["fact"]["limit"]
        elif row["kind"] == "PhaseStarted" and row["fact"]["phase"] == "implement":
            at_work += 1
            found.append((at_work, limit))
        elif row["kind"] == "AgentExited":
            at_work -= 1
    return found


def test_an_unknown_kind_of_work_starts_with_one_agent_and_opens_as_it_lands(scratch: Scratch) -> None:
    # Agents that take longer than a landing does on a busy machine: the clutch opens by what has landed.
    slow = 'sleep 1; echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
    pages(scratch, *(f"page{number}" for number in range(6)), agent=slow)
    out = scratch.interlock("run", "--max-parallel", "auto")
    said = limits(scratch)
    assert said[:2] == [(1, "cold-start"), (2, "goodput")]
    assert all(later - earlier <= 1 for (earlier, _), (later, _) in pairwise(said))
    starts = at_each_start(scratch)
    assert len(starts) == 6
    assert all(at_work <= limit for at_work, limit in starts)
    assert "no results of this kind of work yet" in out
    shown = scratch.interlock("clutch")
    assert "docs  0 at work of" in shown
    assert "landed an hour: " in shown
    view = json.loads(scratch.interlock("clutch", "--json"))
    assert [category["category"] for category in view["categories"]] == ["docs"]
    assert view["decisions"][-1]["limit"] == said[-1][0]
    assert view["categories"][0]["limit"]["why"].keys() > {"code", "text"}


@pytest.mark.thorough
def test_a_number_that_a_person_gives_is_theirs_and_without_one_history_decides(scratch: Scratch) -> None:
    pages(scratch, *"abcd")
    scratch.interlock("run")
    assert limits(scratch) == []
    assert "max_parallel is 3 (default, until a run has landed a change)" in said_of_all(scratch)
    pages(scratch, *"abcde")
    scratch.interlock("run")
    assert "max_parallel is not set, and earlier runs have landed changes: auto" in said_of_all(scratch)
    assert {brake for _, brake in limits(scratch)} == {"goodput"}
    pages(scratch, *"abcdef")
    scratch.interlock("run", "--max-parallel", "5")
    assert limits(scratch)[-1] == (5, "max-parallel")
    assert scratch.states() == dict.fromkeys("abcdef", "done")


def test_slots_that_look_free_come_with_the_kind_of_work_that_is_held_back(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    pages(scratch, "a", "b", agent=f'{WAIT.format(gate=gate)}; echo x > "$INTERLOCK_TASK_ID.txt"')
    run = scratch.start("run", "--max-parallel", "auto")
    run.wait_for_line("implement started")
    assert "clutch: docs 1 of 1 (cold-start)" in scratch.interlock("status")
    gate.touch()
    assert run.wait() == 0


def said_of_all(scratch: Scratch) -> str:
    """Why as many agents may work as may."""
    rows = scratch.facts("ClutchDecided")
    of_all = [row for row in rows if not row["fact"].get("category") and not row["fact"].get("provider")]
    return str(of_all[-1]["reason"]["text"])


def asking(url: str, counts: tuple[int, ...]) -> str:
    """A graph with that many tasks for each run so far; all agents use one credential."""
    names = [f"talk{run}-{number}" for run, count in enumerate(counts, 1) for number in range(count)]
    tasks = "".join(f"  {name}: {{goal: Ask, category: docs}}\n" for name in names)
    model = f'wire: openai, url: "{url}", key_env: BENCH_KEY'
    return (
        "version: 1\ndefaults: {agent: caller, timeout: 60s}\nagents:\n"
        f'  caller: {{use: command, run: [python3, agent.py, "4"], {model}}}\ntasks:\n{tasks}'
    )


class Narrowing(HiddenLimit):
    """Where it takes one call at once, it answers that when it has turned another away: they meet, however
    slowly agents start. Should there be but one agent, it does not wait for ever."""

    def stay(self, over: threading.Event) -> None:
        for _ in range(500):
            if self.refused or self.places(len(self.answered)) > 1 or over.wait(0.01):
                break
        super().stay(over)


@pytest.mark.sandbox
@pytest.mark.night  # by day `doctor --prove` shows a clutch that opens and one that brakes, in test_prove
def test_over_three_runs_it_starts_at_one_opens_and_brakes_when_the_provider_turns_calls_away(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    """Must show 2. The lines in which the runs say why are among the figures."""
    monkeypatch.setenv("BENCH_KEY", "a key")
    takes = {1: 99, 2: 99, 3: 1}
    runs: list[int] = []
    limit = Narrowing(lambda _answered: takes[len(runs)], call_seconds=0.03)
    scratch.write(agent__py=AGENT)
    tops = [0]
    with serving(limit) as url:
        for tasks in (5, 6, 6):
            runs.append(tasks)
            scratch.write(**{"task-graph__yaml": asking(url, tuple(runs))})
            scratch.commit("work to do")
            out = scratch.interlock("run", "--max-parallel", "auto")
            for line in out.splitlines():
                if "at once" in line and "up to" in line:
                    record_property("figure", f"run {len(runs)}: {line}")
            tops.append(max(most for most, _ in limits(scratch)))
    assert limits(scratch)[0] == (1, "cold-start")
    assert tops[1] > 1
    # What the later runs began with they had from the first; how far they opened is up to this machine.
    assert {brake for _, brake in limits(scratch)[1:]} == {"goodput"}
    provider = url.removeprefix("http://").removesuffix("/v1") + " BENCH_KEY"
    said = [row["fact"] for row in scratch.facts("ClutchDecided")]
    braked = [fact for fact in said if fact.get("provider") == provider]
    assert braked[0]["limit"] <= 2, "it takes one call at once, and agents do other things too"
    assert "429" in str(braked[0]["why"])
    assert {fact["brake"] for fact in braked} == {"provider"}
    assert set(scratch.states().values()) == {"done"}
    assert f"{provider}  " in scratch.interlock("clutch")
