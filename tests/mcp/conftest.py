"""A repository of one's own, and the official client at the other end of the tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "a repository")
    yield made
    made.close()


@pytest.fixture
def gate(scratch: Scratch) -> Iterator[Path]:
    """A file that an agent waits for; it exists at the end, so that nothing waits for ever."""
    path = scratch.gates / "gate"
    yield path
    path.touch()
