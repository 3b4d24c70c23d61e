"""The commands that install a project's dependencies, from its graph."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setup:
    """Commands that build what git does not hold: environments, packages, generated files."""

    run: tuple[str, ...]
    key: tuple[str, ...] = ()
    """Files of the repository that decide the result: with the same content it is used again."""
    makes: tuple[str, ...] = ()
    """The folders that it makes. None: those that it is known to make, or whatever it leaves."""

    @property
    def folders(self) -> tuple[str, ...]:
        return self.makes or tuple(dict.fromkeys(_made_by(self.run)))


def _made_by(commands: Iterable[str]) -> Iterable[str]:
    for command in commands:
        if re.search(r"\b(uv sync|pdm (sync|install)|poetry install|pipenv (sync|install))\b", command):
            yield ".venv"
        if re.search(r"\b(npm (ci|i|install)|(pnpm|bun) (i|install)|yarn( install)?)\b", command):
            yield "node_modules"
        if made := re.search(r"-m venv (\S+)", command):
            yield made[1]
