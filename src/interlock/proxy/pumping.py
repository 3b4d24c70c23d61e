"""Passes on the bytes of a connection, in one direction or both."""

import asyncio
from contextlib import suppress

PUMP_BYTES = 64 * 1024

Wires = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def both_ways(near: Wires, far: Wires) -> None:
    """Until both sides have said all, or one of them is gone."""
    async with asyncio.TaskGroup() as both:
        both.create_task(pump(near[0], far[1]))
        both.create_task(pump(far[0], near[1]))


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(PUMP_BYTES):
            sink.write(chunk)
            await sink.drain()
    with suppress(OSError):
        sink.write_eof()
