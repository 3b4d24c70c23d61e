"""Every git test has an empty home of its own and a repository of three files."""

import shutil
from pathlib import Path

import pytest

from tests.git.world import World, make_world


@pytest.fixture(autouse=True)
def nobodys_configuration(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.invalid\n")
    return home


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: a copy is ten times as fast."""
    return tmp_path_factory.mktemp("template") / "project"


@pytest.fixture
def world(tmp_path: Path, template: Path) -> World:
    if not template.exists():
        make_world(template)
    shutil.copytree(template, tmp_path / "project", symlinks=True)
    return World(tmp_path / "project")
