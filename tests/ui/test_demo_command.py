"""`demo` makes a repository of its own, and writes nowhere else."""

import asyncio
from pathlib import Path

import pytest

from interlock.ui.cli import main
from interlock.ui.cli.demo import make_repository
from tests.ui.conftest import git


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
