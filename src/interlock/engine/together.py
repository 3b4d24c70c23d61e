"""Two acts at the same time, of which none goes on when the other has failed."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


# Any: the types that a coroutine sends and is sent do not matter here.
async def both(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Return both results. If one fails, the other is ended first, and then the failure is raised."""
    first, second = asyncio.create_task(one), asyncio.create_task(other)
    try:
        await asyncio.gather(first, second)
        return first.result(), second.result()
    finally:
        if left := [task for task in (first, second) if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left)
