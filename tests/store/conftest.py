"""The logs under test: in memory, in a file, and on a real Postgres server."""

from pathlib import Path
from uuid import uuid4

import pytest

from interlock.store import open_store
from tests.store.logs import Log, memory_log, wait_on_clock

ON_DISK = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=["memory", *ON_DISK])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    return _log(request.param, request, tmp_path)


@pytest.fixture(params=ON_DISK)
def disk_log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    """A log that other processes can open."""
    return _log(request.param, request, tmp_path)


def _log(kind: str, request: pytest.FixtureRequest, folder: Path) -> Log:
    if kind == "memory":
        return memory_log()
    url = str(folder / "log.db") if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    # The file is fresh; on the server a fresh name makes a fresh log. The name is odd on purpose.
    project = f"a project's {uuid4()}"
    return Log(lambda: open_store(url, project), wait_on_clock, url, project)
