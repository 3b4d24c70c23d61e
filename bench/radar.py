"""What the radar sees and costs: thirty agents at work, saves that conflict, and git over all pairs of them.

The agents sleep. Their saves are made from here, in the upper layers of their workspaces, so that nothing
else costs time between them. Costs are the difference of two runs with the same saves, with the radar and
without.
"""

import asyncio
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.scratch import IDENTITY, scratch_repository
from bench.table import Row, Watch, percentile
from bench.workspaces import fill, meter_of_a_group
from interlock.git.command import Git
from interlock.git.radar import MERGE, answers

TITLE = "radar: changes of agents at work, merged in memory"
SIZES = (5_000, 50_000)
AGENTS, PAIRS, STEADY_SECONDS = 30, 60, 60.0
SHORT = (200, 4, 4, 1.0)
"""Files, agents, conflicts and seconds for a look at it."""
SAVE_SECONDS = 10.0
"""Each agent saves a file this often while costs are measured."""
APART_SECONDS = 0.7
"""Between two conflicts: not a multiple of the interval of looks."""
LIMIT_SECONDS = 120.0
MOST_SHARE = 0.05
LINES = "".join(f"line {number}\n" for number in range(40))


def measure(short: bool) -> list[Row]:
    """A short one measures no costs: these are a difference of two runs."""
    rows = list[Row]()
    sizes = [SHORT] if short else [(files, AGENTS, PAIRS, STEADY_SECONDS) for files in SIZES]
    for files, agents, pairs, seconds in sizes:
        seen, cost = _run(files, agents, pairs, seconds, "warn")
        name = f"{files} files, {agents} agents"
        rows += [
            Row(f"{name}: from the second save to the fact, median", percentile(seen, 0.5), "s"),
            Row(f"{name}: the same, 99 of 100", percentile(seen, 0.99), "s"),
            *_git(files, agents),
        ]
        if not short:
            without = _run(files, agents, 0, seconds, "off")[1]
            share, still = cost.saving - without.saving, cost.still - without.still
            what = f"{name}: share of one processor, each saving every {SAVE_SECONDS:g} s"
            rows += [
                Row(what, share, "", target=MOST_SHARE),
                Row(f"{name}: the same while none saves", still, ""),
            ]
    return rows


@dataclass(frozen=True, slots=True)
class Cost:
    """Shares of one processor that a whole run takes."""

    saving: float
    still: float


def _run(files: int, agents: int, pairs: int, seconds: float, policy: str) -> tuple[list[float], Cost]:
    names = [f"task-{number:02}" for number in range(agents)]
    graph = (
        "version: 1\ndefaults: {agent: idle}\nagents:\n"
        "  idle: {use: command, run: [sleep, '3600']}\n"
        "tasks:\n" + "".join(f"  {name}: {{goal: Sleep}}\n" for name in names)
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, meter_of_a_group() as meter:
        settings = f'radar = "{policy}"\nhost_brake = false\n'
        place = scratch_repository(Path(folder), graph, {"interlock.toml": settings})
        fill(place, files)
        argv = (sys.executable, "-m", "interlock", "run", "--max-parallel", str(agents), "--no-input")
        with subprocess.Popen(
            argv,
            cwd=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=meter.enter,  # noqa: PLW1509 - one thread
        ) as running:
            try:
                layers = _layers(place, names, running)
                seen = _conflicts(place, layers, pairs)
                shares = []
                for is_saving in (True, False):
                    meter.read()
                    before = meter.seconds
                    took = _save(layers, seconds) if is_saving else _rest(seconds)
                    meter.read()
                    shares.append((meter.seconds - before) / took)
            finally:
                for _ in range(2):
                    running.send_signal(signal.SIGINT)
                    _rest(1.0)
                running.wait(LIMIT_SECONDS)
    return seen, Cost(*shares)


def _layers(place: Path, names: list[str], running: "subprocess.Popen[bytes]") -> dict[str, Path]:
    """The folders that the agents write to, once all of them work."""
    until = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < until and running.poll() is None:
        started = {fact["fact"]["task"] for fact in _facts(place, "SessionOpened")}
        if len(started) == len(names):
            _rest(3.0)  # the radar has seen each of them once
            return {name: place / f".git/interlock/workspaces/{name}/1/tree" for name in names}
        _rest(0.5)
    raise TimeoutError("the agents did not all start")


def _conflicts(place: Path, layers: dict[str, Path], count: int) -> list[float]:
    """The time from the second save of each conflict to the fact, each of another pair in another file."""
    saved = dict[tuple[str, str], float]()
    for number, (one, other) in enumerate(itertools.islice(itertools.combinations(layers, 2), count)):
        for name in (one, other):
            path = layers[name] / "part-0" / f"hot-{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(LINES.replace("line 20\n", f"{name}\n"))
            saved[one, other] = time.time()
        _rest(APART_SECONDS)
    until, found = time.monotonic() + LIMIT_SECONDS, dict[tuple[str, str], float]()
    while len(found) < count and time.monotonic() < until:
        for fact in reversed(_facts(place, "OverlapSeen")):
            found[fact["fact"]["task"], fact["fact"]["other"]] = fact["time"]
    assert len(found) == count, f"{len(found)} of {count} conflicts were seen"
    return [found[pair] - at for pair, at in saved.items()]


def _save(layers: dict[str, Path], seconds: float) -> float:
    """Let each agent save a file of its own again and again; how long it took."""
    began = time.monotonic()
    pause = SAVE_SECONDS / len(layers)
    for number, (name, layer) in enumerate(itertools.cycle(layers.items())):
        if time.monotonic() - began > seconds:
            return time.monotonic() - began
        path = layer / "part-0" / f"own-{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(LINES.replace("line 20\n", f"{number}\n"))
        _rest(pause)
    return seconds


def _rest(seconds: float) -> float:
    """Let time pass; how much it was."""
    began = time.monotonic()
    time.sleep(seconds)  # noqa: TID251 - what is measured is what happens meanwhile
    return time.monotonic() - began


def _facts(place: Path, kind: str) -> list[dict[str, Any]]:  # Any: facts as JSON
    argv = (sys.executable, "-m", "interlock", "events", "--json")
    said = subprocess.run(argv, cwd=place, capture_output=True, check=True, text=True).stdout
    rows = [json.loads(line) for line in said.splitlines()]
    return [row for row in rows if row["kind"] == kind]


def _git(files: int, agents: int) -> Iterator[Row]:
    """All pairs in one process, as the radar has them merged: each edits the same file and one of its own."""
    with tempfile.TemporaryDirectory() as folder, _commits(Path(folder), files, agents) as (git, made):
        pairs = list(itertools.combinations(made, 2))
        feed = "".join(f"{one} {other}\n" for one, other in pairs).encode()
        watch = Watch()
        with watch.measure():
            said = asyncio.run(git.run(*MERGE, feed=feed))
        assert all(merged.paths for merged in answers(said.out, len(pairs)))
        name = f"{files} files: git merges all {len(pairs)} pairs"
        yield Row(name, watch.seconds, "s")
        yield Row(f"{name}, each", watch.seconds / len(pairs) * 1000, "ms")


@contextmanager
def _commits(folder: Path, files: int, agents: int) -> Iterator[tuple[Git, list[str]]]:
    place = scratch_repository(folder, "version: 1\n", {"hot.txt": LINES})
    fill(place, files)
    made = []
    for number in range(agents):
        (place / "hot.txt").write_text(LINES.replace("line 20\n", f"{number}\n"))
        (place / f"part-0/own-{number}.txt").write_text(LINES)
        for words in (("add", "."), (*IDENTITY, "commit", "-qm", "x")):
            subprocess.run(("git", *words), cwd=place, check=True)
        said = subprocess.run(("git", "rev-parse", "HEAD"), cwd=place, check=True, capture_output=True)
        made.append(said.stdout.decode().strip())
        subprocess.run(("git", "reset", "-q", "--hard", "HEAD~1"), cwd=place, check=True)
    yield Git(place / ".git"), made
