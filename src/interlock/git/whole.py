"""Work that is done as a whole, also when its caller is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:  # Any: what a coroutine yields to its loop
    """Finish first, then let the cancellation go on, however often the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as ended:
            cancelled = ended
    if cancelled is not None:
        raise cancelled
    return task.result()
