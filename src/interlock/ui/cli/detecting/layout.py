"""The files of a checkout, read when they are asked for. What cannot be read counts as absent."""

import configparser
import json
import shutil
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

Table = dict[str, Any]  # Any: whatever the project's own file holds


class Layout:
    """One checkout, and the environment of the person who works in it."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.environ = environ

    def has(self, *names: str) -> bool:
        """True if any of these files exists."""
        return any((self.root / name).exists() for name in names)

    def first(self, *names: str) -> str:
        """The first of these files that is there, or nothing."""
        return next((name for name in names if (self.root / name).is_file()), "")

    def text(self, name: str) -> str:
        path = self.root / name
        try:
            return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        except OSError:
            return ""

    def toml(self, name: str) -> Table:
        try:
            return tomllib.loads(self.text(name))
        except (ValueError, RecursionError):  # no TOML, or a number or a nest that Python does not take
            return {}

    def json(self, name: str) -> Table:
        try:
            said = json.loads(self.text(name) or "{}")
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}

    def is_on_path(self, program: str) -> bool:
        return shutil.which(program, path=self.environ.get("PATH")) is not None

    @cached_property
    def pyproject(self) -> Table:
        return self.toml("pyproject.toml")

    @cached_property
    def package(self) -> Table:
        return self.json("package.json")


def ini(text: str) -> configparser.ConfigParser:
    """An ini file as far as it can be read."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return configparser.ConfigParser(interpolation=None)
    return parser


def table(value: object, *keys: str) -> Table:
    """The table at `keys` inside of tables; an empty one if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def words(value: object) -> list[str]:
    """A list of texts, or nothing."""
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
