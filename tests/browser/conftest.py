"""A browser, a repository, and the dashboard of its real server."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model_server.running import RunningModel, running_model
from tests.browser.dashboard import Dashboard, shots_folder
from tests.browser.world import reached, small_run
from tests.engine.scratch import Scratch
from tests.ui.serving import Server, serving

ALWAYS = "test_a_comment_on_a_line_and_a_rejection_reach_the_next_prompt"
"""The test that is in each part: it shows, acts and follows what happens."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder needs the browser, and none of it is quick: `.ci/run` takes a part of it."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)
            if item.name != ALWAYS:
                item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """The Chromium of the system, once for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="`make test-browser` installs it")
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, "chromium is not installed: apt-get install chromium"
    with playwright.sync_playwright() as driver:
        # Its own sandbox needs user namespaces, which containers often lack; the pages are our own.
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: object) -> Iterator["Opened"]:
    """Opens dashboards, and closes them at the end. A fault in one of the pages fails the test."""
    made = Opened(chromium)
    yield made
    made.close()


class Opened:
    """The dashboards of a test."""

    def __init__(self, chromium: object) -> None:
        self._chromium = chromium
        self._all: list[Dashboard] = []

    def __call__(self, server: Server, path: str = "/", **context: object) -> Dashboard:
        """Open the address that the server printed, in a new profile."""
        made = Dashboard.open(self._chromium, server, path, context)
        self._all.append(made)
        return made

    def close(self) -> None:
        for each in self._all:
            each.close()
        for each in self._all:
            assert each.faults == []


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "notes")
    yield made
    (made.gates / "gate").touch()
    made.close()


@pytest.fixture
def model() -> Iterator[RunningModel]:
    """A model server that follows scripts."""
    with running_model() as server:
        yield server


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """A run that stands still with a task in each state; tests of it change nothing."""
    made = Scratch(tmp_path_factory.mktemp("small") / "notes")
    small_run(made)
    while not reached(made):
        pass
    yield made
    (made.gates / "gate").touch()
    made.close()


@pytest.fixture(scope="session")
def small_server(small: Scratch) -> Iterator[Server]:
    with serving(small.root) as server:
        yield server


@pytest.fixture(scope="session")
def shots() -> Path:
    return shots_folder()
