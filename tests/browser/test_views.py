"""Each view of the dashboard: drawn, accessible, within the window, and nothing from outside (A19)."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import Opened
from tests.browser.dashboard import SIZES, VIEWS
from tests.ui.serving import Server

ALL = VIEWS | {"task": "/tasks/refunds", "task-diff": "/tasks/refunds?pane=diff", "more": "/more"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_view_is_accessible_and_fits_its_window(
    size: str, theme: str, opened: Opened, small_server: Server, shots: Path
) -> None:
    width, height = SIZES[size]
    page = opened(small_server, viewport={"width": width, "height": height}, color_scheme=theme)
    objections: dict[str, list[str]] = {}
    for name, path in ALL.items():
        page.go(path)
        page.shot(shots, f"{name}-12-{size}-{theme}")
        if found := page.axe():
            objections[name] = found
        drawn, window = page.width()
        assert drawn <= window, f"{name} is {drawn} px wide"
    assert objections == {}


def test_nothing_is_loaded_from_another_server(opened: Opened, small_server: Server) -> None:
    page = opened(small_server)
    for path in ALL.values():
        page.go(path)
    assert {urlsplit(url).netloc for url in page.requests} == {small_server.place}
    assert small_server.token not in page.page.url
