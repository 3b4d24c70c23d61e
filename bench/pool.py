"""The pool through the real engine: how soon a slot works again, what more sessions bring, what each takes.

Turnaround is by the clocks of the programs themselves: each says when it began and when it ended, to a file
beside its repository. The log's own clock is shown beside it: `AgentExited` to the next `SessionOpened`.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from bench.scratch import scratch_repository
from bench.table import Row, percentile

TITLE = "pool: real sessions that sleep"
SECONDS, SHORT_SECONDS = 4.0, 1.0
SESSIONS, SHORT_SESSIONS = (1, 3, 10, 30), (1, 3)
ROUNDS = 3
GRAPH = """\
version: 1
defaults: {{agent: sleeper, verify: "true", estimate: {seconds:g}}}
agents:
  sleeper:
    use: command
    run: [sh, -c, '{script}']
tasks:
"""
SCRIPT = 'date +begin\\ %s.%N; echo x > "$INTERLOCK_TASK_ID.txt"; sleep {seconds:g}; date +end\\ %s.%N'


class Ran:
    """One whole run, and what came of it."""

    def __init__(self, sessions: int, seconds: float) -> None:
        graph = GRAPH.format(seconds=seconds, script=SCRIPT.format(seconds=seconds))
        graph += "".join(f"  sleeper-{number}: {{goal: Sleep}}\n" for number in range(sessions * ROUNDS))
        with tempfile.TemporaryDirectory() as folder:
            place = scratch_repository(Path(folder), graph)
            self.bytes_each = _run(place, sessions)
            self.facts = [json.loads(line) for line in _interlock(place, "events", "--json").splitlines()]
            logs = sorted((place / ".git/interlock" / "logs").glob("*/1.log"))
            spoken = [dict(line.split() for line in log.read_text().splitlines()[1:]) for log in logs]
        self.sessions = sessions
        self.begins = sorted(float(said["begin"]) for said in spoken)
        self.ends = sorted(float(said["end"]) for said in spoken)
        assert len(self.times("Landed")) == sessions * ROUNDS

    def times(self, kind: str) -> list[float]:
        return [fact["time"] for fact in self.facts if fact["kind"] == kind]

    @property
    def agents_per_second(self) -> float:
        """From the first agent's begin to the last agent's end: what the pool does, without the landing."""
        return len(self.ends) / (self.ends[-1] - self.begins[0])

    def turnarounds(self) -> list[float]:
        """The n-th end frees the slot of the n-th begin after the first full pool."""
        return [max(0.0, begin - end) for end, begin in zip(self.ends, self.begins[self.sessions :])]  # noqa: B905 - the last ends free slots that nobody needs

    def turnarounds_in_log(self) -> list[float]:
        opened, exited = sorted(self.times("SessionOpened")), sorted(self.times("AgentExited"))
        return [max(0.0, begin - end) for end, begin in zip(exited, opened[self.sessions :])]  # noqa: B905 - as above


def measure(short: bool) -> list[Row]:
    """The same tasks at different widths, one after the other in one run."""
    seconds = SHORT_SECONDS if short else SECONDS
    runs = {sessions: Ran(sessions, seconds) for sessions in (SHORT_SESSIONS if short else SESSIONS)}
    widest = runs[max(runs)]
    name = f"slot turnaround, {widest.sessions} sessions"
    rows = [
        Row(f"{name}, p50", percentile(widest.turnarounds(), 0.5), "s"),
        Row(f"{name}, p99", percentile(widest.turnarounds(), 0.99), "s", target=0.05),
        Row(f"{name}, by the log, p50", percentile(widest.turnarounds_in_log(), 0.5), "s"),
        Row(f"{name}, by the log, p99", percentile(widest.turnarounds_in_log(), 0.99), "s"),
    ]
    for sessions, ran in runs.items():
        speedup = ran.agents_per_second / runs[1].agents_per_second
        # A row's target is the most that is allowed: so it is the loss that is held against it.
        rows += [
            Row(f"speedup of {sessions}", speedup, "x", speedup / sessions, "sessions"),
            Row(f"lost of {sessions} sessions", 1 - speedup / sessions, "", target=0.05),
        ]
    return [*rows, Row("memory of a session, beside its agent", widest.bytes_each / 2**20, "MiB")]


def _run(place: Path, sessions: int) -> float:
    """Run it to its end; what each session takes in memory, as seen when all of them run."""
    words = (sys.executable, "-m", "interlock", "run", "--max-parallel", str(sessions), "--no-input")
    engine = subprocess.Popen(words, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen: list[float] = []
    watcher = threading.Thread(target=_watch, args=(engine, sessions, seen))
    watcher.start()
    assert engine.wait() == 0
    watcher.join()
    return max(seen, default=0.0)


def _watch(engine: "subprocess.Popen[bytes]", sessions: int, seen: list[float]) -> None:
    """Once, in the middle of the first round: looking takes a processor."""
    while engine.poll() is None and not seen:
        with contextlib.suppress(subprocess.TimeoutExpired):
            engine.wait(0.3)
        try:
            tree = psutil.Process(engine.pid).children(recursive=True)
            if sum(process.name() == "sleep" for process in tree) == sessions:
                seen.append(sum(map(_own_bytes, tree)) / sessions)
        except psutil.Error:
            continue


def _own_bytes(process: psutil.Process) -> float:
    """Its proportional share, if it is a supervisor or a sandbox in use."""
    words = process.cmdline()
    ours = any("import supervisor" in word for word in words) and process.children()
    return float(process.memory_full_info().pss) if ours or process.name() == "bwrap" else 0.0


def _interlock(place: Path, *words: str) -> str:
    argv = (sys.executable, "-m", "interlock", *words)
    return subprocess.run(argv, cwd=place, capture_output=True, check=True, text=True).stdout
