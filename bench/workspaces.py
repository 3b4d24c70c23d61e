"""What a workspace costs in repositories of three sizes: time to start, processor time, room on the disk."""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.scratch import scratch_repository
from bench.table import Row, percentile

TITLE = "workspaces: one agent at a time, one check for each change"
SIZES = {50: 0.15, 7_000: 0.2, 50_000: 0.3}
"""Files, and how many seconds of all processors an attempt may take from its claim to its landing."""
TASKS = 8
FIRST_SECONDS = 1.0
LIMIT_SECONDS = 300.0
"""Of one run; the largest takes half a minute on an idle machine."""
GRAPH = """\
version: 1
defaults: {agent: stamp, verify: "true"}
agents:
  stamp: {use: command, run: [sh, -c, 'date +%s.%N > "$INTERLOCK_TASK_ID.txt"; sleep 0.5']}
tasks:
"""
TEXT = "".join(f"line {number} of a file of ordinary size\n" for number in range(40))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command on a new repository."""

    cpu_seconds: float
    """Of all processors, for each attempt after the first: that one waits for the tree of main."""
    first_seconds: float
    """From the command to the first agent."""
    latencies: tuple[float, ...]
    """From the claim of each task to its agent."""
    disk_bytes: int


def measure(short: bool) -> list[Row]:
    """One run for each size. The making of the first tree is no attempt's, and differs from run to run."""
    rows, first = list[Row](), list[Row]()
    for files, target in list(SIZES.items())[: 1 if short else None]:
        run = _run(files, TASKS)
        later = run.latencies[1:]
        found = [
            Row(f"{files} files: processor time of an attempt", run.cpu_seconds, "s", target=target),
            Row(f"{files} files: from claim to agent, median", percentile(later, 0.5), "s"),
            Row(
                f"{files} files: first run, until the first agent",
                run.first_seconds,
                "s",
                target=_first(files),
            ),
            Row(f"{files} files: disk of a workspace", run.disk_bytes / 2**20, "MiB"),
        ]
        first = first or found
        rows += [
            *found,
            *(_beside(row, one) for row, one in zip(found, first, strict=True) if row is not one),
        ]
    return rows


def _beside(row: Row, smallest: Row) -> Row:
    return Row(f"{row.what}, beside", row.value, row.unit, row.value / smallest.value, f"{min(SIZES)} files")


def _first(files: int) -> float | None:
    return FIRST_SECONDS if files <= 7_000 else None


def _run(files: int, tasks: int) -> Run:
    names = [f"task-{number}" for number in range(tasks)]
    graph = GRAPH + "".join(f"  {name}: {{goal: Stamp}}\n" for name in names)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, meter_of_a_group() as meter:
        place = scratch_repository(Path(folder), graph)
        fill(place, files)
        began = time.time()
        argv = (sys.executable, "-m", "interlock", "run", "--max-parallel", "1", "--no-input")
        running = subprocess.Popen(
            argv,
            cwd=place,
            stdout=subprocess.DEVNULL,
            preexec_fn=meter.enter,  # noqa: PLW1509 - one thread
        )
        seen = _watch(place, running, meter)
        assert running.returncode == 0
        stamps = [float((place / f"{name}.txt").read_text()) for name in names]
        claims = _claims(place)
    latencies = tuple(stamp - claims[name] for name, stamp in zip(names, stamps, strict=True))
    first = min(stamps)
    each = (meter.seconds - seen.first_cpu_seconds) / (tasks - 1)
    return Run(each, first - began, latencies, seen.disk_bytes)


def fill(place: Path, files: int) -> None:
    """Add a commit with so many files, as one pack: git takes minutes to add 50,000 files one by one."""
    who = b"committer Bench <bench@example.com> 0 +0000"
    pieces = [b"commit refs/heads/main\n%s\ndata 5\nfiles\nfrom refs/heads/main^0" % who]
    for number in range(files):
        text = f"{number}\n{TEXT}".encode()
        path = f"part-{number // 100}/file-{number}.txt".encode()
        pieces.append(b"M 100644 inline %s\ndata %d\n%s" % (path, len(text), text))
    for words, feed in (
        (("config", "gc.auto", "0"), b""),
        (("fast-import", "--quiet"), b"\n".join(pieces) + b"\n"),
        (("reset", "-q", "--hard"), b""),
    ):
        subprocess.run(("git", *words), cwd=place, check=True, input=feed)


class _Watched(NamedTuple):
    first_cpu_seconds: float
    """What the run had taken when the first change was in the checkout."""
    disk_bytes: int
    """The most that one workspace took while agents were at work."""


def _watch(place: Path, running: "subprocess.Popen[bytes]", meter: "_Meter") -> _Watched:
    """Look at the run until it ends."""
    most, first, until = 0, 0.0, time.monotonic() + LIMIT_SECONDS
    while running.poll() is None:
        if time.monotonic() > until:
            running.kill()
            raise TimeoutError(f"a run took more than {LIMIT_SECONDS:g} s")
        for home in place.glob(".git/interlock/workspaces/*/1"):
            if (home / "workspace.json").exists():
                most = max(most, _bytes(home))
        if not first and any(place.glob("task-*.txt")):
            meter.read()
            first = meter.seconds
        with suppress(subprocess.TimeoutExpired):
            running.wait(0.2)
    return _Watched(first, most)


def _bytes(home: Path) -> int:
    """What only this folder holds: not the files that another one has as well."""
    total = 0
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                seen = os.lstat(Path(folder, name))
            except OSError:
                continue
            total += seen.st_blocks * 512 if seen.st_nlink == 1 else 0
    return total


def _claims(place: Path) -> dict[str, float]:
    argv = (sys.executable, "-m", "interlock", "events", "--json")
    said = subprocess.run(argv, cwd=place, capture_output=True, check=True, text=True).stdout
    facts: list[dict[str, Any]] = [json.loads(line) for line in said.splitlines()]  # Any: facts as JSON
    return {
        fact["fact"]["task"]: fact["time"]
        for fact in reversed(facts)
        if fact["kind"] == "PhaseStarted" and fact["fact"]["phase"] == "implement"
    }


class _Meter:
    """Processor time of a process and all below it, wherever they end: a cgroup counts it."""

    def __init__(self, group: Path | None) -> None:
        self._group = group
        self.seconds = 0.0

    def enter(self) -> None:
        """In the new process."""
        if self._group:
            (self._group / "cgroup.procs").write_text("0")

    def read(self) -> None:
        if self._group is None:
            spent = os.times()
            self.seconds = spent.children_user + spent.children_system
        elif (old := self._group / "cpuacct.usage").exists():
            self.seconds = int(old.read_text()) / 1e9
        else:
            words = (self._group / "cpu.stat").read_text().split()
            self.seconds = int(words[words.index("usage_usec") + 1]) / 1e6


@contextmanager
def meter_of_a_group() -> Iterator[_Meter]:
    group: Path | None = None
    for root in (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")):
        if (root / "cgroup.procs").exists() and os.access(root, os.W_OK):
            group = root / f"bench-{uuid.uuid4().hex[:8]}"
            group.mkdir()
            break
    meter = _Meter(group)
    before = os.times()
    try:
        yield meter
        meter.read()
        if group is None:
            meter.seconds -= before.children_user + before.children_system
    finally:
        if group:
            group.rmdir()
