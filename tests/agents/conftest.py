"""A scripted model, and one of the real programs in a repository of its own."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts.agent_programs import PROGRAMS, cache_folder, is_installed
from tests.agents.model_server import RunningModel, running_model
from tests.agents.programs import CHOSEN_BY, DRIVEN, KEY_ENV, Driven, chosen
from tests.agents.workshop import Workshop


@pytest.fixture(scope="session")
def model() -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


@pytest.fixture(params=list(DRIVEN))
def program(request: pytest.FixtureRequest) -> Driven:
    """Each of the eight that was chosen. One that was chosen and is not there is a failure."""
    name: str = request.param
    if name not in chosen():
        pytest.skip(f"{name} is not among {CHOSEN_BY}")
    if not is_installed(PROGRAMS[name], cache_folder()):
        pytest.fail(f"{name} is not installed: `python scripts/agent_programs.py --only {name}`")
    return DRIVEN[name]


@pytest.fixture
def credential() -> str:
    """Worth something to the model, and known to nobody who is not told."""
    return f"sk-scripted-{uuid.uuid4().hex}"


@pytest.fixture
def workshop(program: Driven, credential: str, tmp_path: Path) -> Iterator[Workshop]:
    environ = {
        "PATH": program.path(tmp_path / "bin"),
        KEY_ENV: credential,
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    made = Workshop(tmp_path / "repository", environ)
    yield made
    made.close()


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A line for the summary of the run."""
    return lambda text: record_property("figure", text)
