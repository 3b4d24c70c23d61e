"""Ten agents, one credential, a hidden limit that halves half-way, with the brake and without."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.provider import AGENT, HiddenLimit, graph_of, serving
from bench.scratch import scratch_repository
from bench.table import Row
from bench.traffic import Server, simulate
from interlock.proxy.brake.brake import Account, account_of
from interlock.proxy.brake.limit import CallLimit, Ticket
from interlock.proxy.brake.throttle import Throttle

TITLE = "brake: ten agents on one credential, a hidden limit of 6 calls at once that halves half-way"
AGENTS, PLACES, CALL_SECONDS = 10, 6, 0.25
CALM_CALLS = 40
"""Answers in a row without a refusal, from which the new limit counts as found."""


@dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    limit: HiddenLimit
    landed: int
    failed: int
    """Attempts that did not come through."""
    heard: int
    """Refusals that reached a program."""
    seconds: float


def measure(short: bool) -> list[Row]:
    """The same work twice through the real command, then the brake's core in simulated time."""
    calls = 12 if short else 60
    braked, open_ = (run_agents(calls, brake) for brake in (True, False))
    assert braked.landed == AGENTS, f"{AGENTS - braked.landed} tasks did not land"
    rows = [*_rows("with the brake", braked), *_rows("without", open_)]
    return [*rows, *_simulated()]


def run_agents(calls: int, brake: bool) -> Outcome:
    """`interlock run` in a new repository, as a user who has never done so before."""
    half = AGENTS * calls // 2
    limit = HiddenLimit(lambda answered: PLACES if answered < half else PLACES // 2, CALL_SECONDS)
    with tempfile.TemporaryDirectory() as folder, serving(limit) as url:
        place = scratch_repository(Path(folder), graph_of(url, AGENTS, calls), {"agent.py": AGENT})
        env = {
            **os.environ,
            "BENCH_KEY": "a key",
            "XDG_STATE_HOME": f"{folder}/state",
            "INTERLOCK_MODEL_BRAKE": "on" if brake else "off",
            "INTERLOCK_HOST_BRAKE": "false",
            "INTERLOCK_TRUST_FOLDERS": folder,  # the graph names a server of this machine
        }
        began = time.monotonic()
        argv = (sys.executable, "-m", "interlock")
        # It fails where tasks do, which is one of the things measured.
        words = ("run", "--max-parallel", str(AGENTS), "--no-input")
        subprocess.run((*argv, *words), cwd=place, env=env, capture_output=True, check=False, timeout=240)
        seconds = time.monotonic() - began
        told = subprocess.run(
            (*argv, "events", "--json"), cwd=place, env=env, capture_output=True, check=True, text=True
        )
        kinds = [json.loads(line)["kind"] for line in told.stdout.splitlines()]
        logs = [path.read_text() for path in place.glob(".git/interlock/logs/*/*.log")]
    heard = sum(line.endswith(" 429") for log in logs for line in log.splitlines())
    return Outcome(limit, kinds.count("Landed"), kinds.count("PhaseFailed"), heard, seconds)


def _rows(name: str, outcome: Outcome) -> list[Row]:
    limit = outcome.limit
    return [
        Row(
            f"{name}: 429s per 100 requests",
            limit.refused_per_100,
            "",
            target=2.0 if name == "with the brake" else None,
        ),
        Row(f"{name}: 429s that a program heard of", outcome.heard, ""),
        Row(f"{name}: tasks landed of {AGENTS}", outcome.landed, ""),
        Row(f"{name}: attempts that failed", outcome.failed, ""),
        Row(f"{name}: from the halving to the last refusal before calm", recovery_seconds(limit), "s"),
        Row(f"{name}: whole run", outcome.seconds, "s"),
    ]


def recovery_seconds(limit: HiddenLimit) -> float:
    """How long after the halving calls were still turned away, until a stretch without."""
    half = limit.answered[len(limit.answered) // 2]
    events = sorted([(at, True) for at in limit.answered] + [(at, False) for at in limit.refused])
    last, calm = half, 0
    for at, good in (event for event in events if event[0] >= half):
        calm = calm + 1 if good else 0
        last = last if good else at
        if calm >= CALM_CALLS:
            break
    return last - half


@dataclass(slots=True)
class PlainLimit(CallLimit):
    """AIMD as in the textbooks: no memory of where it was turned away."""

    def good(self, _now: float, _ticket: Ticket) -> None:
        self.move(self.at_once + (1.0 if self.doubling else 1 / self.at_once))

    def refused(self, now: float, ticket: Ticket) -> bool:
        is_news = ticket.at > self.cut_at
        if is_news:
            self.doubling, self.at_once, self.cut_at = False, max(1.0, self.at_once / 2), now
        return is_news


@dataclass(slots=True)
class FixedLimit(CallLimit):
    """So many, whatever is answered."""

    def good(self, _now: float, _ticket: Ticket) -> None:
        pass

    def refused(self, _now: float, _ticket: Ticket) -> bool:
        return False


def _simulated() -> list[Row]:
    """Twenty minutes of 32 users; 8 calls at once, 4 from the middle on."""
    rows = []
    for name, account in (
        ("this brake", account_of("api.example.org KEY")),
        ("AIMD alone", Account(Throttle(limit=PlainLimit()))),
        ("fixed 3", Account(Throttle(limit=FixedLimit(3.0)))),
        ("fixed 10", Account(Throttle(limit=FixedLimit(10.0)))),
    ):
        tally = simulate(account, Server(at_once=lambda now: 8 if now < 600 else 4), users=32, seconds=1200)
        used = (tally.good_per_second(0, 600) / 8 + tally.good_per_second(600, 1200) / 4) / 2
        rows += [
            Row(f"simulated, {name}: 429s per 100 requests", tally.refused_per_100(), ""),
            Row(f"simulated, {name}: share of what the provider takes", used, ""),
        ]
    return rows
