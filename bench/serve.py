"""The web server beside a log: its first answer, its size, and what it costs while thirty agents work.

The agents are files that grow, and the run is facts that are written from here, so that nothing but the
server's own work is measured in its process.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from msgspec.json import encode

from bench.drive import Drive
from bench.graphs import big_graph
from bench.scratch import scratch_repository
from bench.table import Row, percentile
from interlock.engine.loading import load_state
from interlock.events.facts import Fact, Paused, Unpaused
from interlock.events.snapshot import pack
from interlock.events.state import State
from interlock.git.lineage import ensure_lineage
from interlock.model.claim import CONTROLLER
from interlock.model.session import Event, EventKind
from interlock.plan import parse
from interlock.store import open_store

TITLE = "serve: the API beside a log"
LANES = 30
RATES = (10, 33)
"""Events of each agent in a second."""
SECONDS = 20.0
MOST_CPU = 0.25
"""Share of one processor at the first rate."""
HOUR_SECONDS = 3_600
MOST_GROWTH_MIB = 32.0
"""That an hour of traffic may add to the server's memory."""
MIB = 1 << 20
READS = ("timeline", "graph", "cost", "queue", "health")


def measure(short: bool) -> list[Row]:
    """A short one has small logs, and watches for a moment."""
    sizes = [(300, 1_000)] if short else [(1_000, 5_000), (10_000, 100_000)]
    rows = [row for tasks, facts in sizes for row in _first_answers(tasks, facts)]
    for rate in RATES[:1] if short else RATES:
        rows += _watched(rate, 2.0 if short else SECONDS)
    return [*rows, *_hour(HOUR_SECONDS // 60 if short else HOUR_SECONDS)]


@dataclass(frozen=True, slots=True)
class Client:
    """A connection to the server."""

    url: str
    token: str
    process: psutil.Process

    def get(self, path: str) -> tuple[float, bytes]:
        """The seconds that an answer took, and the answer."""
        began = time.perf_counter()
        connection, answer = self.open(path)
        body = answer.read()
        connection.close()
        assert answer.status == 200, (path, answer.status, body[:300])
        return time.perf_counter() - began, body

    def open(self, path: str) -> tuple[HTTPConnection, HTTPResponse]:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=300)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        return connection, connection.getresponse()

    @property
    def resident(self) -> float:
        return float(self.process.memory_info().rss) / MIB

    @property
    def cpu(self) -> float:
        used = self.process.cpu_times()
        return float(used.user + used.system)


@contextmanager
def project(tasks: int, facts: int) -> Iterator[tuple[Path, State]]:
    """A project in the middle of a run of so many tasks, its log filled up to so many facts."""
    graph = big_graph(tasks, 3 * tasks)
    drive = Drive(parse(graph, "g").tasks, LANES)
    drive.run(min(facts, 5 * tasks))
    found = [row.fact for row in drive.rows]
    filler: list[Fact] = [Paused(None, "full"), Unpaused(None)]
    found[tasks:tasks] = (filler * facts)[: max(0, facts - len(found))]
    with tempfile.TemporaryDirectory() as folder:
        root = scratch_repository(Path(folder), graph)
        state_dir = root / ".git/interlock"
        state_dir.mkdir()
        ensure_lineage(state_dir)
        with ThreadPoolExecutor(1) as thread:  # the driver of a browser has a loop of its own in this one
            state = thread.submit(asyncio.run, _write(state_dir, found)).result()
        yield root, state


async def _write(state_dir: Path, facts: Sequence[Fact]) -> State:
    store = open_store(str(state_dir / "log.db"), "bench")
    for at in range(0, len(facts), 1_000):
        await store.append(facts[at : at + 1_000], "bench")
    state = await load_state(store)
    await store.save_snapshot(state.seq, pack(state))
    await store.claim(CONTROLLER, "bench", 3_600.0, lambda _: [])
    await store.close()
    return state


@contextmanager
def serving(root: Path) -> Iterator[tuple[float, Client]]:
    """The server, and how long it took to be there."""
    began = time.perf_counter()
    argv = [sys.executable, "-m", "interlock", "serve", "--json"]
    with subprocess.Popen(argv, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout
            said = json.loads(process.stdout.readline())
            yield (
                time.perf_counter() - began,
                Client(said["address"], said["token"], psutil.Process(process.pid)),
            )
        finally:
            process.terminate()


def _first_answers(tasks: int, facts: int) -> Iterator[Row]:
    name = f"{tasks:,} tasks, {facts:,} facts"
    with project(tasks, facts) as (root, _), serving(root) as (started, client):
        first, body = client.get("/api/snapshot")
        again = percentile([client.get("/api/snapshot")[0] for _ in range(9)], 0.5)
        yield Row(f"{name}: from the start of the process to its address", started, "s")
        yield Row(f"{name}: first snapshot", first, "s", target=3.0)
        yield Row(f"{name}: later snapshots, median", again, "s")
        yield Row(
            f"{name}: size of a snapshot", len(body) / MIB, "MiB", len(body) / tasks / 1024, "KiB a task"
        )
        for path in READS:
            once, twice = client.get(f"/api/{path}")[0], client.get(f"/api/{path}")[0]
            yield Row(f"{name}: {path}, second time", twice, "s", once / twice, "slower at first")
        past = client.get(f"/api/snapshot?at={facts // 2}")[0]
        yield Row(f"{name}: the moment in the middle of the log", past, "s")
        yield Row(f"{name}: memory", client.resident, "MiB")


@dataclass(slots=True)
class Seen:
    """What a client of the stream saw."""

    updates: int = 0
    bytes: int = 0
    agents: int = 0
    at: dict[int, float] = field(default_factory=dict)
    """The time at which each position of the log was first seen."""

    def wait(self, seq: int) -> float:
        """The time at which this fact, or a later one, was there."""
        return min(at for position, at in self.at.items() if position >= seq)


def _watched(rate: int, seconds: float) -> Iterator[Row]:
    with project(1_000, 5_000) as (root, state), serving(root) as (_, client):
        running = [state.tasks[each] for each in sorted(state.index.running) if state.tasks[each].has_agent]
        assert len(running) > LANES // 2, len(running)  # those in the middle of a phase of theirs
        name = f"{len(running)} agents, {rate} events/s each"
        files = [root / f".git/interlock/logs/{t.spec.id}/{t.attempt}.events.jsonl" for t in running]
        cursor = json.loads(client.get("/api/snapshot")[1])["cursor"]
        seen, stop = Seen(), threading.Event()
        connection, stream = client.open(f"/api/stream?after={cursor}")
        watcher = threading.Thread(target=_watch, args=(stream, seen, stop))
        watcher.start()
        idle = _share(client, lambda: time.sleep(min(seconds, 5.0)))  # noqa: TID251 - nothing is to happen
        written: dict[int, float] = {}
        before = (seen.bytes, seen.updates, seen.agents)
        busy = _share(client, lambda: asyncio.run(work(root, files, rate, seconds, written)))
        after = (seen.bytes, seen.updates, seen.agents)
        sent, updates, agents = ((last - first) / seconds for first, last in zip(before, after, strict=True))
        stop.set()
        watcher.join()
        connection.close()
        waits = [seen.wait(seq) - wrote for seq, wrote in written.items()]
        target = MOST_CPU if rate == RATES[0] else None
        yield Row(f"{name}: server, share of one processor", busy, "", target=target)
        yield Row(f"{name}: the same while nothing happens", idle, "")
        yield Row(f"{name}: updates each second", updates, "/s")
        of_events = agents / (rate * len(running))
        yield Row(f"{name}: rows of agents in them", agents, "/s", of_events, "events")
        yield Row(f"{name}: sent", sent / 1024, "KiB/s")
        yield Row(f"{name}: from a fact to the client, median", percentile(waits, 0.5), "s")
        yield Row(f"{name}: the same, 95 of 100", percentile(waits, 0.95), "s")
        yield Row(f"{name}: memory", client.resident, "MiB")


def _hour(seconds: int) -> Iterator[Row]:
    """Memory after the traffic of an hour, written as fast as it goes, with pages that come and leave."""
    with project(1_000, 5_000) as (root, state), serving(root) as (_, client):
        running = [state.tasks[each] for each in sorted(state.index.running) if state.tasks[each].has_agent]
        files = [root / f".git/interlock/logs/{t.spec.id}/{t.attempt}.events.jsonl" for t in running]
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
        cursor = json.loads(client.get("/api/snapshot")[1])["cursor"]
        seen, stop = Seen(), threading.Event()
        connection, stream = client.open(f"/api/stream?after={cursor}")
        watcher = threading.Thread(target=_watch, args=(stream, seen, stop))
        watcher.start()
        _pass(client, root, files, range(seconds // 60))
        early = client.resident
        took = time.perf_counter()
        _pass(client, root, files, range(seconds // 60, seconds))
        took, late = time.perf_counter() - took, client.resident
        stop.set()
        watcher.join()
        connection.close()
        name = f"{seconds / 60:g} minutes of {len(files)} agents, {RATES[0]} events/s each, 5 facts/s"
        yield Row(
            f"{name}: time to write it", took, "s", (seconds - seconds // 60) / took, "faster than life"
        )
        yield Row(f"{name}: memory after a sixtieth of it", early, "MiB")
        yield Row(f"{name}: memory after it", late, "MiB")
        yield Row(f"{name}: growth", late - early, "MiB", target=MOST_GROWTH_MIB)


def _pass(client: Client, root: Path, files: Sequence[Path], seconds: range) -> None:
    """Write what happens in these seconds. A page is opened in each tenth of them, and closed."""

    async def write() -> None:
        store = open_store(str(root / ".git/interlock/log.db"), "bench")
        for second in seconds:
            told = (Event(EventKind.COMMAND, text=f"make test {second}.{at}") for at in range(RATES[0]))
            lines = b"".join(encode(event) + b"\n" for event in told)
            for path in files:
                with path.open("ab") as file:
                    file.write(lines)
            facts: list[Fact] = [Paused(None, "lunch") if at % 2 else Unpaused(None) for at in range(5)]
            await store.append(facts, "bench")
            if second % 10 == 0:
                cursor = json.loads(client.get("/api/snapshot")[1])["cursor"]
                client.open(f"/api/stream?after={cursor}")[0].close()
        await store.close()

    asyncio.run(write())


def _share(client: Client, work: Callable[[], object]) -> float:
    before, began = client.cpu, time.perf_counter()
    work()
    return (client.cpu - before) / (time.perf_counter() - began)


def _watch(stream: HTTPResponse, seen: Seen, stop: threading.Event) -> None:
    while not stop.is_set():
        line = stream.readline()
        seen.bytes += len(line)
        if line.startswith(b'data: {"cursor"'):
            update = json.loads(line[6:])
            if "agents" not in update:  # nothing changed: it tells that the server is there
                continue
            seen.updates += 1
            seen.agents += len(update["agents"])
            seen.at.setdefault(update["seq"], time.perf_counter())


async def work(
    root: Path, files: Sequence[Path], rate: int, seconds: float, written: dict[int, float]
) -> None:
    """Let every agent do so many things a second, and a person pause or unpause five times a second."""
    store = open_store(str(root / ".git/interlock/log.db"), "bench")
    loop = asyncio.get_running_loop()
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    began, done, facts = loop.time(), 0, 0
    while (passed := loop.time() - began) < seconds:
        while done < passed * rate:
            done += 1
            line = encode(Event(EventKind.COMMAND, text=f"make test number {done}")) + b"\n"
            for path in files:
                with path.open("ab") as file:
                    file.write(line)
        if facts < passed * 5:
            facts += 1
            fact: Fact = Paused(None, "lunch") if facts % 2 else Unpaused(None)
            written[(await store.append([fact], "bench"))[-1].seq] = time.perf_counter()
        await asyncio.sleep(0.01)
    await store.close()
