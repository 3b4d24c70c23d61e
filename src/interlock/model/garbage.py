"""Work that makes hundreds of thousands of values at once, all of them kept."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """Pause the garbage collector: no garbage is made here, and the search takes longer than the work itself.

    Only for work whose size has a limit. What is freed by count alone is freed as ever.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
