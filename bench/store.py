"""How long a fact and a claim take until they are safe, on SQLite and on Postgres."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.table import Row, Watch, percentile
from interlock.events.facts import MainSeen
from interlock.model.task import Commit, Tree
from interlock.store import Store, open_store
from tests.postgres_server import running_postgres

TITLE = "store"


def measure(short: bool) -> list[Row]:
    """Both stores, one after the other, in one process."""
    rounds = 200 if short else 1_000
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_measure("SQLite", str(Path(folder) / "log.db"), rounds))
    with running_postgres() as url:
        return rows + asyncio.run(_measure("Postgres", url, rounds))


async def _measure(name: str, url: str, rounds: int) -> list[Row]:
    store = open_store(url, "bench")

    async def append(number: int) -> None:
        await store.append([MainSeen("main", Commit(f"c{number}"), Tree("t"))], "bench")

    async def claim(number: int) -> None:
        assert await store.claim(f"task:{number}", "bench", 60.0, lambda _: [])

    await append(-1)  # connects, and makes the tables
    rows = [
        *await _timed(f"{name}: append one fact", append, rounds),
        *await _timed(f"{name}: claim one task", claim, rounds),
        *await _wake_up(name, store, rounds // 10),
    ]
    await store.close()
    return rows


async def _timed(what: str, act: Callable[[int], Awaitable[None]], rounds: int) -> list[Row]:
    seconds = []
    for number in range(rounds):
        watch = Watch()
        with watch.measure():
            await act(number)
        seconds.append(watch.seconds)
    return [
        Row(f"{what}, p50", 1e3 * percentile(seconds, 0.5), "ms"),
        Row(f"{what}, p99", 1e3 * percentile(seconds, 0.99), "ms"),
    ]


async def _wake_up(name: str, store: Store, rounds: int) -> list[Row]:
    """From a fact being written to somebody who waits for it going on."""

    async def wait(_: int) -> None:
        head = await store.head()
        waiting = asyncio.create_task(store.wait(head, 5.0))
        await asyncio.sleep(0)
        await store.append([MainSeen("main", Commit("c"), Tree("t"))], "bench")
        assert await waiting

    return await _timed(f"{name}: append and wake a waiter", wait, rounds)
