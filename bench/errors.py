"""A long log in which every tenth fact is a failure: how fast they are grouped."""

import asyncio
import tempfile
from pathlib import Path

from bench.table import Row, Watch
from interlock.engine.loading import load_state
from interlock.events.facts import (
    Fact,
    Landed,
    PhaseFailed,
    PhaseStarted,
    SessionOpened,
    TaskAccepted,
    WorkFinished,
)
from interlock.learn.errors import Errors
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said as because
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.store import Store, open_store

TITLE = "errors"


def measure(short: bool) -> list[Row]:
    """What `interlock errors` does once the state is there."""
    return asyncio.run(_measure(10_000 if short else 100_000))


async def _measure(size: int) -> list[Row]:
    """`interlock errors` on a long log in which every tenth fact is a failure."""
    watch, state_watch = Watch(), Watch()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "log.db"), "bench")
        await _fill(store, size)
        with state_watch.measure():
            state = await load_state(store)
        errors, after = Errors(state), 0
        with watch.measure():
            while rows := await store.read(after, 5_000):
                after = rows[-1].seq
                for row in rows:
                    errors.add(row)
            found = errors.troubles()
        await store.close()
    return [
        Row(
            f"{size:,} facts: group {sum(len(one.cases) for one in found):,} failures into {len(found)}",
            watch.seconds,
            "s",
            target=2.0,
        ),
        Row(f"{size:,} facts: fold them all first, without a snapshot", state_watch.seconds, "s"),
    ]


async def _fill(store: Store, size: int) -> None:
    agent = Agent("coder", "command", ("coder",))
    names = [TaskId(f"t{number}") for number in range(size // 10)]
    for at in range(0, len(names), 500):
        facts: list[Fact] = []
        for number, name in enumerate(names[at : at + 500], at):
            facts += _story(name, number, agent)
        await store.append(facts, "bench")


def _story(name: TaskId, number: int, agent: Agent) -> list[Fact]:
    """Ten facts of a task that fails once, as a twentieth of all do, and then lands."""
    said = "\n".join(f"tests/test_{line}.py:{line}: ok in 0.{number % 7} s" for line in range(60))
    said += (
        f"\nE   ModuleNotFoundError: No module named 'part_{'abcdefghijklmnopqrst'[number % 20]}'\n1 failed"
    )
    why, commit = because(f"`pytest tests/{name}` exited 1"), Commit(f"{number:040x}")
    return [
        TaskAccepted(Task(name, "x", agent)),
        PhaseStarted(name, 1, "implement", 1),
        SessionOpened(name, 1, "implement", 1, agent="coder"),
        PhaseFailed(name, 1, "implement", 1, ErrorClass.EXIT, why, f"{number:x}", said),
        PhaseStarted(name, 2, "implement", 2),
        SessionOpened(name, 2, "implement", 2, agent="coder"),
        WorkFinished(name, 2, "implement", 2, commit=commit),
        PhaseStarted(name, 2, "verify", 3),
        PhaseStarted(name, 2, "verify", 3),
        Landed(name, 2, "land", 4, commit=commit),
    ]
