"""The sandbox for somebody without rights, and after the engine was killed (D11)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from interlock.process.survivors import end_survivors
from tests.run.tree import BOUND_SECONDS, Marked, end, linux, marked, python_as_nobody
from tests.sandbox.room import furnished

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]

DRIVER = str(Path(__file__).with_name("sandbox_driver.py"))
DEAF = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo up > \"$UP\"; while :; do sleep 600; done' &); "
CROWD = "i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i+1)); done; echo all of them"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Marked]:
    """A folder for everybody; pytest's own are for one user alone."""
    furnished(tmp_path, "bubblewrap")
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        mine = Path(name, "mine")
        mine.mkdir()
        found = marked(mine)
        (mine / "kept").write_text("kept\n")
        (Path(name) / "secret").write_text("private\n")
        for path in (mine, *mine.iterdir()):
            path.chmod(0o777)
        yield found


def engine(
    here: Marked, script: str, before: tuple[str, ...], kind: str = "bubblewrap"
) -> subprocess.Popen[str]:
    words = [*before, DRIVER, kind, str(here.folder.parent), here.mark, script]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def log(here: Marked) -> str:
    return (here.folder.parent / "log").read_text()


@pytest.fixture(params=["as we are", "as nobody"])
def before(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if request.param == "as we are":
        return (sys.executable,)
    if os.geteuid():
        pytest.skip("we are nobody already")
    return python_as_nobody()


def test_the_full_sandbox_holds_for_whoever_runs_it(here: Marked, before: tuple[str, ...]) -> None:
    script = (
        f"id -u; cat '{here.folder.parent}/secret'; (echo no > kept) 2>/dev/null; cat kept; echo made > file;"
        " ls /proc | grep -c '^[0-9]'; exit 5"
    )
    said = engine(here, script, before).communicate(timeout=BOUND_SECONDS)[0].split()
    assert (said[0], said[2:]) == ("bubblewrap", ["exited", "5"])
    lines = log(here).splitlines()
    assert lines[0] == "1000", "whoever starts it, inside it is the same nobody"
    assert "private" not in lines
    assert (here.folder / "kept").read_text() == "kept\n"
    assert (here.folder / "file").read_text() == "made\n"
    assert int(lines[-1]) < 10, "no process of the host's is seen"


def test_the_reduced_sandbox_holds_for_whoever_runs_it(
    here: Marked, before: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "reduced").mkdir()
    furnished(tmp_path / "reduced", "landlock")
    script = (
        f"cat '{here.folder.parent}/secret'; touch '{here.folder.parent}/new'; echo made > file; cat file;"
        " cat /proc/1/environ | tr '\\0' '\\n' | grep -v -e ^PATH= -e ^INTERLOCK_PROCESS=; exit 5"
    )
    said = engine(here, script, before, "landlock").communicate(timeout=BOUND_SECONDS)[0].split()
    assert (said[0], said[2:]) == ("landlock", ["exited", "5"])
    assert "private" not in log(here)
    assert log(here).splitlines()[-1].startswith(("made", "cat: /proc/1/environ"))
    assert not (here.folder.parent / "new").exists()


def test_a_crowd_is_refused_whoever_runs_it(here: Marked, before: tuple[str, ...]) -> None:
    """By a cgroup for root; by a limit of the sandbox's own processes for others."""
    engine(here, CROWD, before).communicate(timeout=BOUND_SECONDS)
    assert "all of them" not in log(here)
    assert "fork" in log(here)


@pytest.mark.crash
def test_a_killed_engine_leaves_nothing_in_the_sandbox(here: Marked, before: tuple[str, ...]) -> None:
    """D: 0 processes 1 s after kill -9, whatever they did not to be ended."""
    running = engine(here, DEAF + "while :; do sleep 600; done", before)
    here.wait_until_up()
    assert here.alive()
    end(running)
    here.wait_until_gone()


@pytest.mark.crash
def test_what_an_engine_that_is_stopped_left_running_is_ended_by_the_next(here: Marked) -> None:
    running = engine(here, DEAF + "while :; do sleep 600; done", (sys.executable,))
    here.wait_until_up()
    end_survivors(here.folder.parent / "pid")
    here.wait_until_gone()
    end(running)
