"""The files of a checkout, read when they are asked for. What cannot be read counts as absent."""

import configparser
import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from interlock.git.files import read_regular

Table = dict[str, Any]  # Any: whatever the project's own file holds


class Layout:
    """One checkout, and the environment of the person who works in it."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.environ = environ
        self._tables: dict[str, Table] = {}

    def has(self, *names: str) -> bool:
        return any((self.root / name).exists() for name in names)

    def first(self, *names: str) -> str:
        return next((name for name in names if (self.root / name).is_file()), "")

    def text(self, name: str) -> str:
        return text_of(self.root / name)

    def toml(self, name: str) -> Table:
        return _parsed(tomllib.loads, self.text(name))

    def json(self, name: str) -> Table:
        return _parsed(json.loads, self.text(name))

    def yaml(self, name: str) -> Table:
        """Read it once: several rules ask about the same workflow, and PyYAML is slow."""
        if name not in self._tables:
            self._tables[name] = _parsed(yaml.safe_load, self.text(name))
        return self._tables[name]

    def is_on_path(self, program: str) -> bool:
        return shutil.which(program, path=self.environ.get("PATH")) is not None

    @cached_property
    def pyproject(self) -> Table:
        return self.toml("pyproject.toml")

    @cached_property
    def package(self) -> Table:
        return self.json("package.json")


def text_of(path: Path) -> str:
    """The text of a regular file; empty if there is none, or if it is too large for settings."""
    try:
        return read_regular(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _parsed(parse: Callable[[str], object], text: str) -> Table:
    """The table in a text; an empty one if there is none, or a nest or a value that Python does not take."""
    try:
        said = parse(text)
    except (ValueError, RecursionError, yaml.YAMLError, LookupError, AttributeError, TypeError):
        return {}
    return said if isinstance(said, dict) else {}


def ini(text: str) -> configparser.ConfigParser:
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
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
