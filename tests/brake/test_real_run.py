"""Many agents on one credential through the real command: a limit is found, and nothing is lost (K7, W11)."""

import json
import threading

import pytest

from bench.brake import AGENTS, run_agents
from bench.provider import AGENT, HiddenLimit, graph_of, serving
from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


@pytest.mark.thorough
def test_ten_agents_find_a_hidden_limit_that_halves_and_lose_nothing() -> None:
    """Must show 3, in short: `python -m bench brake` has the figures, and those without the brake."""
    calls = 8
    outcome = run_agents(calls, brake=True)
    assert (outcome.landed, outcome.failed, outcome.heard) == (AGENTS, 0, 0)
    assert len(outcome.limit.answered) == calls * AGENTS
    assert 0 < len(outcome.limit.refused) <= calls * AGENTS / 5


class Meeting(HiddenLimit):
    """Takes one call, and answers it when it has turned another away: however late that comes, they meet."""

    def stay(self, over: threading.Event) -> None:
        while not self.refused and not over.wait(0.01):
            pass
        super().stay(over)


def test_a_run_that_comes_later_begins_where_the_last_one_ended(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_KEY", "a key")
    limit = Meeting(lambda _answered: 1, call_seconds=0.02)
    with serving(limit) as url:
        scratch.write(agent__py=AGENT, **{"task-graph__yaml": graph_of(url, 3, 4)})
        scratch.commit("work to do")
        scratch.interlock("run", "--max-parallel", "3")
        found = len(limit.refused)
        assert found > 0
        scratch.write(**{"task-graph__yaml": graph_of(url, 5, 4)})
        scratch.commit("more work")
        scratch.interlock("run", "--max-parallel", "3")
        assert len(limit.refused) == found
    name = f"{url.removeprefix('http://').removesuffix('/v1')} BENCH_KEY"
    (seen,) = json.loads(scratch.interlock("clutch", "--json"))["providers"]
    assert (seen["provider"], seen["calls_at_once"], seen["refused"]) == (name, 1, found)
    told = [row["fact"] for row in scratch.facts("ProviderBraked")]
    assert told[-1]["limit"] == 1
    assert sum(fact["refused"] for fact in told) == found
    assert sum(fact["calls"] for fact in told) == found + 20
