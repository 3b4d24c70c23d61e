"""One scripted model for all tests of the proxy: it remembers nothing that matters to another test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model_server import RunningModel, running_model
from tests.proxy.stage import Setting


@pytest.fixture(scope="session")
def model() -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)
