"""Every git test has an empty home of its own and a repository of three files."""

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


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "project")
