"""Hooks come from the user's own file, and from nowhere else (W13, D11)."""

from pathlib import Path

import pytest

from interlock.engine.settings import load
from interlock.model.errors import UsageError


def own_file(home: Path, text: str) -> None:
    folder = home / ".config" / "interlock"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def test_the_users_own_file_has_a_table_of_hooks(tmp_path: Path) -> None:
    own_file(tmp_path, 'hook_timeout = "3s"\n[hooks]\nSessionEnd = ["say bye", "two"]\n')
    settings = load(tmp_path / "repo", {}, {"HOME": str(tmp_path)}).settings
    assert settings.hooks == {"SessionEnd": ("say bye", "two")}
    assert settings.hook_timeout_seconds == 3.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("interlock.toml", '[hooks]\nStop = ["curl evil"]\n'),
        ("pyproject.toml", '[tool.interlock.hooks]\nStop = ["curl evil"]\n'),
    ],
)
def test_a_repository_that_brings_hooks_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=f"{name}.*a repository may not set") as caught:
        load(tmp_path, {}, {"HOME": str(tmp_path / "home")})
    assert "config.toml" in caught.value.hint


def test_a_variable_cannot_bring_hooks(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "INTERLOCK_HOOKS": "x"}
    with pytest.raises(UsageError, match="INTERLOCK_HOOKS: `hooks` is a table") as caught:
        load(tmp_path / "repo", {}, environ)
    assert "SessionEnd" in caught.value.hint


def test_a_moment_that_does_not_exist_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    own_file(tmp_path, '[hooks]\nPreTooluse = ["x"]\n')
    with pytest.raises(UsageError, match="no moment `PreTooluse`") as caught:
        load(tmp_path / "repo", {}, {"HOME": str(tmp_path)})
    assert "PreToolUse" in caught.value.hint


def test_a_command_that_is_no_list_is_refused_with_an_example(tmp_path: Path) -> None:
    own_file(tmp_path, '[hooks]\nStop = "x"\n')
    with pytest.raises(UsageError, match="`hooks` cannot be") as caught:
        load(tmp_path / "repo", {}, {"HOME": str(tmp_path)})
    assert "[hooks]" in caught.value.hint
