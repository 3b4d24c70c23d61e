"""A log of 100,000 facts: opened from its beginning and from a snapshot, and its chain checked."""

import asyncio
import tempfile
from pathlib import Path

from bench.drive import Drive
from bench.graphs import big_graph
from bench.table import Row, Watch
from interlock.engine.loading import load_state
from interlock.events.facts import Fact
from interlock.events.record import verify_chain
from interlock.events.snapshot import pack
from interlock.plan import parse
from interlock.store import open_store

TITLE = "log"
FACTS_PER_TASK = 7


def measure(short: bool) -> list[Row]:
    """A log as full runs leave it, on disk."""
    return asyncio.run(_measure(5_000 if short else 100_000))


async def _measure(size: int) -> list[Row]:
    tasks = size // FACTS_PER_TASK
    drive = Drive(parse(big_graph(min(tasks, 10_000), 5 * min(tasks, 10_000)), "g").tasks, 8)
    drive.run()
    facts = [row.fact for row in drive.rows]
    log = (facts * (size // len(facts) + 1))[:size]
    with tempfile.TemporaryDirectory() as folder:
        return await _on_disk(str(Path(folder) / "log.db"), log)


async def _on_disk(path: str, facts: list[Fact]) -> list[Row]:
    write, whole, quick, check = Watch(), Watch(), Watch(), Watch()
    store = open_store(path, "bench")
    with write.measure():
        for at in range(0, len(facts), 1_000):
            await store.append(facts[at : at + 1_000], "bench")
    with whole.measure():
        state = await load_state(store)
    await store.save_snapshot(state.seq, pack(state))
    with quick.measure():
        again = await load_state(store)
    assert again == state
    with check.measure():
        assert verify_chain(await store.read(0, len(facts))) == len(facts)
    await store.close()
    size = len(facts)
    return [
        Row(f"{size:,} facts: write, 1,000 at a time", write.seconds, "s"),
        Row(f"{size:,} facts: open without a snapshot", whole.seconds, "s"),
        Row(
            f"{size:,} facts: open with a snapshot",
            quick.seconds,
            "s",
            quick.seconds / whole.seconds,
            "opening without",
        ),
        Row(f"{size:,} facts: open with a snapshot, limit", quick.seconds, "s", target=1.0),
        Row(f"{size:,} facts: read and verify the chain", check.seconds, "s"),
    ]
