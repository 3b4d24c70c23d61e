"""Independent tasks that only sleep, through the real command: what is lost between agents (Must show 3)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.scratch import scratch_repository
from bench.table import Row

TITLE = "sleepers: 20 tasks of 2 s, 10 at a time"
TASKS, SLOTS, SECONDS = 20, 10, 2.0
GRAPH = """\
version: 1
defaults: {agent: sleeper, verify: "true", estimate: 2}
agents:
  sleeper: {use: command, run: [sh, -c, 'sleep 2; echo x > "$INTERLOCK_TASK_ID.txt"']}
tasks:
"""


def measure(short: bool) -> list[Row]:  # noqa: ARG001 - there is no shorter form of eight seconds
    """Makespan by the log's own clock."""
    graph = GRAPH + "".join(f"  sleeper-{number}: {{goal: Sleep}}\n" for number in range(TASKS))
    with tempfile.TemporaryDirectory() as folder:
        place = scratch_repository(Path(folder), graph)
        _interlock(place, "run", "--max-parallel", str(SLOTS), "--no-input")
        facts = [json.loads(line) for line in _interlock(place, "events", "--json").splitlines()]
    times = {kind: [fact["time"] for fact in facts if fact["kind"] == kind] for kind in _kinds(facts)}
    assert len(times["Landed"]) == TASKS
    begin, end = times["RunStarted"][0], times["RunEnded"][-1]
    bound = SECONDS * TASKS / SLOTS
    last_agent, lane = times["WorkFinished"][-1] - begin, _lane_seconds(facts)
    return [
        Row("makespan", end - begin, "s", (end - begin) / bound, f"lower bound {bound:g} s", target=1.25),
        Row("until the last agent ended", last_agent, "s", last_agent / bound, "lower bound"),
        Row("from there to the end", end - begin - last_agent, "s"),
        Row("check and land one change, mean", sum(lane) / len(lane), "s"),
        Row("speedup over one worker", SECONDS * TASKS / (end - begin), "x"),
    ]


def _interlock(place: Path, *words: str) -> str:
    argv = (sys.executable, "-m", "interlock", *words)
    return subprocess.run(argv, cwd=place, capture_output=True, check=True, text=True).stdout


def _kinds(facts: list[dict[str, Any]]) -> set[str]:  # Any: a fact as JSON
    return {fact["kind"] for fact in facts}


def _lane_seconds(facts: list[dict[str, Any]]) -> list[float]:
    """For each change that had a check of its own, from the start of that to its landing."""
    starts = {
        fact["fact"]["task"]: fact["time"]
        for fact in facts
        if fact["kind"] == "PhaseStarted" and fact["fact"]["phase"] == "verify"
    }
    landed = {fact["fact"]["task"]: fact["time"] for fact in facts if fact["kind"] == "Landed"}
    return [landed[task] - begun for task, begun in starts.items()]
