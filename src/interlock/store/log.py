"""What every store does to a log outside of SQL: chaining new facts, and carrying it to another store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from interlock.events.facts import Fact, PhaseStarted, RunStarted
from interlock.events.record import GENESIS, Recorded, seal, verify_chain
from interlock.model.claim import CONTROLLER, task_resource
from interlock.model.errors import UsageError

PAGE = 1000
"""Facts read at a time while exporting."""

_row = msgspec.json.Decoder(Recorded)


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of the log: what the next one is chained to."""

    seq: int = 0
    hash: str = GENESIS
    time: float = 0.0


def rows_after(head: Head, now: float, actor: str, facts: Sequence[Fact]) -> list[Recorded]:
    """The facts as the rows that follow `head`. A clock that was set back does not turn the log's back."""
    rows: list[Recorded] = []
    seq, previous, time = head.seq, head.hash, max(head.time, now)
    for fact in facts:
        seq += 1
        row = seal(previous, seq, time, actor, fact)
        rows.append(row)
        previous = row.hash
    return rows


async def export_lines(read: Callable[[int, int], Awaitable[list[Recorded]]]) -> AsyncIterator[str]:
    """The whole log, a page at a time. Facts never change, so no lock is needed between the pages."""
    after = 0
    while rows := await read(after, PAGE):
        for row in rows:
            yield msgspec.json.encode(row).decode()
        after = rows[-1].seq


async def checked_rows(lines: AsyncIterator[str]) -> list[Recorded]:
    """The rows of an export, with their chain verified before any of them is written."""
    rows: list[Recorded] = []
    number = 0
    async for line in lines:
        number += 1
        if not line.strip():
            continue
        try:
            rows.append(_row.decode(line))
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise UsageError(
                f"line {number} of the export is not a fact: {error}",
                "export the log again; every line must be one JSON object",
            ) from error
    verify_chain(rows)
    return rows


def epochs_in(rows: Iterable[Recorded]) -> dict[str, int]:
    """The highest epoch handed out per resource, as the log tells it.

    The claim table is not part of an export. Epochs that began at 1 again after a restore would be older than
    the fence in git and than the facts themselves, so they go on from here.
    """
    epochs: dict[str, int] = {}
    for row in rows:
        if row.kind not in (PhaseStarted.__name__, RunStarted.__name__):
            continue
        fact = row.fact
        if isinstance(fact, PhaseStarted):
            resource, epoch = task_resource(fact.task), fact.epoch
        elif isinstance(fact, RunStarted):
            resource, epoch = CONTROLLER, fact.generation
        else:
            continue
        epochs[resource] = max(epoch, epochs.get(resource, 0))
    return epochs
