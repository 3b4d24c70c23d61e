"""`demo` makes a repository of its own, and writes nowhere else."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.ui.cli import main
from interlock.ui.cli.demo import make_repository
from interlock.ui.web.static_files import is_built
from tests.ui.conftest import git
from tests.ui.serving import PATIENCE_SECONDS, Server

ROOT = Path(__file__).resolve().parents[2]


def test_a_folder_with_files_in_it_is_refused_and_left_as_it_was(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = git(repository, "rev-parse", "HEAD")
    assert main(["demo", "--dir", str(repository)]) == 2
    said = capsys.readouterr().err
    assert f"{repository} exists and is not an empty folder" in said
    assert "hint: name a folder that does not exist yet" in said
    assert (repository / "README.md").read_text() == "A shop\n"
    assert sorted(path.name for path in repository.iterdir()) == [".git", "README.md"]
    assert git(repository, "rev-parse", "HEAD") == before


def test_a_file_or_a_link_is_no_folder_for_a_demo(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in (repository / "README.md", tmp_path / "link"):
        assert main(["demo", "--dir", str(name)]) == 2
        assert "not an empty folder" in capsys.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_folder_may_be_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(make_repository(Path("below/here")))
    assert git(tmp_path / "below" / "here", "status", "--short") == ""
    assert git(tmp_path / "below" / "here", "log", "--format=%s") == "A corner shop"


@contextmanager
def shown_demo(folder: Path, *words: str) -> Iterator[Server]:
    """`interlock demo --ui`, whose scratch repository is made in `folder`."""
    argv = [sys.executable, "-m", "interlock", "demo", "--ui", "--no-open", "--json", *words]
    env = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(
        argv, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            said = json.loads(line)
            yield Server(process, said["address"], said["token"])
        finally:
            process.kill()


def working(server: Server) -> int:
    count: int = server.get("/api/snapshot")["frame"]["buckets"]["working"]
    return count


@pytest.mark.slow
def test_the_run_is_shown_while_it_goes_on_and_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    with shown_demo(tmp_path) as server:
        (scratch,) = tmp_path.glob("interlock-demo-*")
        while not working(server):
            pass
        assert (scratch / "task-graph.yaml").exists()
        server.process.send_signal(signal.SIGINT)
        _, said = server.process.communicate(timeout=PATIENCE_SECONDS)
        assert server.process.returncode == 130, said
    assert not list(tmp_path.glob("interlock-demo-*"))


@pytest.mark.slow
def test_a_folder_that_a_person_named_is_kept(tmp_path: Path) -> None:
    with shown_demo(tmp_path, "--dir", str(tmp_path / "mine")) as server:
        server.process.send_signal(signal.SIGTERM)
        _, said = server.process.communicate(timeout=PATIENCE_SECONDS)
    assert ("the pages of the dashboard are not built" in said) is not is_built()
    assert (f"make -C {ROOT} dashboard" in said) is not is_built()
    assert git(tmp_path / "mine", "log", "--format=%s").splitlines()[-1] == "A corner shop"


@pytest.mark.parametrize(("words", "builds"), [("", False), ("--ui", True), ("--dir x --ui", True)])
def test_only_the_demo_in_the_browser_needs_the_pages(words: str, builds: bool) -> None:
    newer = "dashboard/package.json"  # as if it had been edited: then the pages are to be built again
    argv = ["make", "-n", "-W", newer, "demo", f"ARGS={words}"]
    planned = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert ("dashboard.py build" in planned) is builds
    assert f"interlock demo {words}".strip() in planned
