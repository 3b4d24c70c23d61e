"""A proxy, and a repository, for the tests of the brake."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch
from tests.proxy.stage import Setting


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "project")
    yield made
    made.close()
