"""A real repository for runs, and a user who has hooks."""

import json
from pathlib import Path

import pytest

from tests.engine.conftest import gate, scratch

__all__ = ["gate", "own_hooks", "scratch"]


class OwnHooks:
    """The user's own settings file, and what the hooks in it were told."""

    def __init__(self, folder: Path) -> None:
        self.heard = folder / "heard.jsonl"
        self._file = folder / "config" / "interlock" / "config.toml"
        self._file.parent.mkdir(parents=True)

    @property
    def record(self) -> str:
        """A command that writes down what it is told."""
        return f"cat >> '{self.heard}'; echo >> '{self.heard}'"

    def write(self, **commands: str) -> None:
        """Have these commands, one for each moment."""
        lines = [f"{moment} = ['''{command}''']\n" for moment, command in commands.items()]
        self._file.write_text("".join(["[hooks]\n", *lines]))

    def moments(self) -> list[str]:
        """What was told, as moment and reason."""
        told = [json.loads(line) for line in self.heard.read_text().splitlines() if line]
        return [f"{one['hook_event_name']} {one.get('reason', '')}".strip() for one in told]


@pytest.fixture
def own_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OwnHooks:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return OwnHooks(tmp_path)
