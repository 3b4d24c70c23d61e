"""D15: any repository as found. `init`, a first run, and only the good change lands (K4, W3, D7)."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.projects.cells import CELLS, Cell
from tests.projects.checkout import PATH, Checkout, lacks, now

CHOSEN_BY = "INTERLOCK_TEST_PROJECTS"

pytestmark = [pytest.mark.projects, pytest.mark.slow]


@pytest.fixture(params=list(CELLS))
def cell(request: pytest.FixtureRequest) -> Cell:
    """Each kind of project that was chosen and whose tools are here."""
    found = CELLS[request.param]
    chosen = os.environ.get(CHOSEN_BY, "")
    if chosen and found.name not in chosen.split(","):
        pytest.skip(f"{found.name} is not among {CHOSEN_BY}")
    if missing := lacks(found):
        pytest.skip(f"this machine has no {missing}")
    return found


@pytest.fixture
def checkout(cell: Cell, tmp_path: Path) -> Iterator[Checkout]:
    made = Checkout(tmp_path, cell, {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": PATH})
    made.make()
    yield made
    made.close()


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    return lambda text: record_property("figure", text)


def test_a_project_as_found(cell: Cell, checkout: Checkout, figure: Callable[[str], None]) -> None:
    began = now()
    checkout.interlock("init")
    written = (checkout.root / "task-graph.yaml").read_text()
    assert "\n  verify:" in written, f"init found no check that runs:\n{written}"
    checkout.plan({"good": cell.good, "bad": cell.bad})
    mine = checkout.outside_git()
    checkout.interlock("run", code=1)

    assert checkout.states() == {"good": "done", "bad": "failed"}
    [good] = [task for task in checkout.status()["tasks"] if task["id"] == "good"]
    assert good["evidence"]["grade"] == "verified"
    for name, text in cell.good.items():
        assert checkout.git("show", f"main:{name}") == text.strip()
    for name, text in cell.bad.items():
        assert checkout.git("show", f"main:{name}") != text.strip()

    assert checkout.git("status", "--porcelain") == ""
    assert checkout.outside_git() == mine
    checkout.run(cell.own_tests)
    minutes = checkout.landed_after("good", began)
    figure(
        f"{cell.name}: 0 lines of configuration, {minutes:.2f} min to the first verified landing, "
        "broken change refused"
    )


def test_a_new_dependency_works(cell: Cell, checkout: Checkout) -> None:
    if cell.dependency is None:
        pytest.skip(f"{cell.name} has no registry to add a dependency from")
    checkout.interlock("init")
    for words in cell.dependency.install:
        checkout.run(words)
    checkout.plan({"uses-it": cell.dependency.change})
    checkout.interlock("run")
    assert checkout.states() == {"uses-it": "done"}
