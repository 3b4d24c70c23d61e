"""Graphs of 1,000 and 10,000 tasks with five needs each: plan, acceptance, decisions, memory, growth."""

import asyncio
import gc
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from bench.drive import Drive
from bench.graphs import big_graph
from bench.habits import forecasts
from bench.table import Row, Watch, percentile
from interlock.events.state import State
from interlock.model.task import Task
from interlock.plan import Graph, analyse, changes, parse
from interlock.store import open_store

TITLE = "graph: 5 needs per task"
SIZES, SHORT_SIZES = (1_000, 10_000), (300, 1_500)
SLOTS = 8

Shape = Callable[[int, Task], Task]
WORST: dict[str, Shape] = {
    "all ready, one lease": lambda _, task: replace(task, needs=(), uses=("db",)),
    "all ready, one exclusive file": lambda _, task: replace(task, needs=(), exclusive=("CHANGELOG.md",)),
    "all ready, all overlap": lambda at, task: replace(task, needs=(), touches=("src/**", f"t/{at}/**")),
    "all ready, 1 in 50 wide": lambda at, task: replace(
        task, needs=(), touches=("src/**",) if at % 50 == 0 else (f"src/{at}/**",)
    ),
}


def measure(short: bool) -> list[Row]:
    """The figures for both sizes, and how they grow."""
    rows: list[Row] = []
    sizes = SHORT_SIZES if short else SIZES
    small, large = (_measure_size(size, short, rows, is_large=size == sizes[1]) for size in sizes)
    for what, seconds in large.items():
        growth = seconds / small[what]
        limit = 1.5 * sizes[1] / sizes[0] if "fact" not in what else 2.0
        rows.append(Row(f"{what}, growth for {sizes[1] // sizes[0]}x the tasks", growth, "x", target=limit))
    return rows


def _measure_size(size: int, short: bool, rows: list[Row], is_large: bool) -> dict[str, float]:
    text = big_graph(size, 5 * size)
    # What the smaller size left behind would be looked at over and over; the command starts with nothing.
    gc.collect()
    gc.freeze()
    before = psutil.Process().memory_info().rss
    parsed, analysed, accepted = Watch(), Watch(), Watch()
    with parsed.measure():
        graph = parse(text, "task-graph.yaml")
    with analysed.measure():
        analyse(graph.tasks, SLOTS)
    with accepted.measure():
        asyncio.run(_accept(graph))
    drive = Drive(graph.tasks, SLOTS)
    drive.run(facts=size + 1_000 if short else None)
    memory = (psutil.Process().memory_info().rss - before) / 2**20
    mean = sum(drive.decisions) / len(drive.decisions)
    rows += [
        Row(f"{size:,} tasks: parse", parsed.seconds, "s"),
        Row(f"{size:,} tasks: analyse", analysed.seconds, "s"),
        Row(f"{size:,} tasks: accept (facts on disk)", accepted.seconds, "s"),
        Row(
            f"{size:,} tasks: plan and accept",
            parsed.seconds + analysed.seconds + accepted.seconds,
            "s",
            target=2.0 if is_large else None,
        ),
        *_decisions(f"{size:,} tasks", drive.decisions, is_large),
        Row(f"{size:,} tasks: memory for all of it", memory, "MiB"),
    ]
    if is_large:
        rows += forecasts(graph.tasks)
        rows += _worst(graph.tasks, 300 if short else 5_000)
    return {"parse": parsed.seconds, "accept": accepted.seconds, "decide per fact": mean}


async def _accept(graph: Graph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "log.db"), "bench")
        await store.append(changes(State(), graph), "bench")
        await store.close()


def _worst(tasks: Sequence[Task], facts: int) -> list[Row]:
    rows: list[Row] = []
    for what, shape in WORST.items():
        drive = Drive([shape(at, task) for at, task in enumerate(tasks)], SLOTS)
        drive.run(facts=len(tasks) + facts)
        rows += _decisions(what, drive.decisions[1:], True)
    return rows


def _decisions(what: str, seconds: list[float], has_target: bool) -> list[Row]:
    mean, late = 1e3 * sum(seconds) / len(seconds), 1e3 * percentile(seconds, 0.99)
    return [
        Row(f"{what}: decide per fact, mean", mean, "ms", target=1.0 if has_target else None),
        Row(f"{what}: decide per fact, p99", late, "ms"),
        Row(f"{what}: decide per fact, most", 1e3 * max(seconds), "ms"),
    ]
