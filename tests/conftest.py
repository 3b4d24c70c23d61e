"""What every test shares: a Postgres server, Hypothesis without a stop-watch, a count of tests by kind."""

import itertools
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from interlock.process.choice import UNSAFE_VARIABLE, SandboxRequest, try_all
from tests.postgres_server import running_postgres
from tests.tiers import EXAMPLES, is_left_out

KINDS = ("sim", "crash", "contract", "property")
"""A test is of the first kind it is marked with; without any it is a unit test."""

_NUMBERS = itertools.count()

# How long an example takes says more about the machine than about the code.
settings.register_profile("interlock", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("interlock")


def pytest_configure() -> None:
    """Where no sandbox works, tests that are about something else run their agents without one.

    Containers often switch compiled files off. Then each command that a test starts would compile all of
    Interlock again, which takes longer than most of them run. `make test &` ignores Ctrl-C, and so would each
    command that a test interrupts. The `python` of checks is the one of the tests, as in an activated
    environment: it has pytest, and it is no shim of a version manager, which takes longer than most checks.
    """
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if try_all(SandboxRequest())[-1].confinement is None:
        os.environ[UNSAFE_VARIABLE] = "1"


@pytest.fixture(autouse=True)
def own_state_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test learns from another, or leaves anything where the person's own projects would."""
    folder = tmp_path_factory.getbasetemp() / f"state-{next(_NUMBERS)}"  # not made: most tests need none
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))


@pytest.fixture(scope="session", autouse=True)
def state_home_of_shared_projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same for projects that the tests of a module share: they are made before the test has its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state-shared"))
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real server, started when the first test asks for it and ended after the last."""
    with running_postgres() as url:
        yield url


def kind_of(item: pytest.Item) -> str:
    return next((kind for kind in KINDS if item.get_closest_marker(kind)), "unit")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if left_out := [item for item in items if is_left_out(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]
    for item in items:
        item.user_properties.append(("kind", kind_of(item)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = Counter(
        str(dict(report.user_properties)["kind"])
        for outcome in ("passed", "failed", "xfailed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"
    )
    for report in terminalreporter.stats.get("passed", []):
        for figure in (text for name, text in report.user_properties if name == "figure"):
            terminalreporter.write_line(f"  {figure}")
    counts = ", ".join(f"{ran[kind]} {kind}" for kind in ("unit", *reversed(KINDS)))
    terminalreporter.write_line(f"tests run: {counts}")
