"""Finds out whether a check imports the tree it runs on, or another copy of the project. Pure; runs nothing.

An installed copy of a package, or an editable install of a checkout that is elsewhere, makes checks pass
with any change. The probe runs in the same place and the same way as checks; its lines are read here.
"""

import itertools
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from interlock.verify.sources import is_own_source, is_test

MARK = "interlock-probe"
_MOST = 3
_SETTING = re.compile(r"[A-Za-z_]\w*=")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_SCRIPT = f"""\
import importlib.util as u, os, sys
here = os.path.realpath(".")
for name in sys.argv[1:]:
    try:
        spec = u.find_spec(name)
        path = (spec.origin or list(spec.submodule_search_locations or ())[0]) if spec else ""
        path = os.path.realpath(path) if path else ""
        is_copy = not {{"site-packages", "dist-packages"}}.isdisjoint(path.split(os.sep))
        is_here = not path or path.startswith(here + os.sep)
        how = "copy" if is_copy else "here" if is_here else "editable"
        print("{MARK}", name, how, path, sep=chr(9))
    except Exception as problem:
        print("{MARK}", name, "here", "", sep=chr(9))
"""
"""Asks the interpreter where it would import from; imports nothing of the project. An environment in the
checkout (`.venv`) is no part of the tree. An editable install leads to a folder that no installer fills."""


@dataclass(frozen=True, slots=True)
class WrongCopy:
    """A package of the project that checks take from somewhere else."""

    package: str
    path: str
    """The path it is imported from."""
    is_editable: bool
    """An editable install of another folder; else a copy."""


def own_packages(files: Iterable[str]) -> tuple[str, ...]:
    """The importable names at the top of a Python project; none if it cannot be installed."""
    paths = set(files)
    if not paths.intersection(_PROJECT_FILES):
        return ()
    found: dict[str, None] = {}
    for path in sorted(paths):
        parts = PurePosixPath(path).parts
        inner = parts[1:] if parts[0] == "src" else parts
        if len(inner) == 2 and inner[1] == "__init__.py" and is_own_source(path) and not is_test(path):
            found[inner[0]] = None
    return tuple(found)[:_MOST]


def probe(packages: Sequence[str], checks: Sequence[str]) -> str:
    """A shell command that says where the interpreter of these checks imports the packages from."""
    settings, named = _beginning(checks[0]) if checks else ([], [])
    pythons = (*named, ".venv/bin/python", "venv/bin/python", "python", "python3")
    looked = " || ".join(f"command -v {shlex.quote(python)}" for python in dict.fromkeys(pythons))
    words = " ".join(map(shlex.quote, packages))
    begins = " ".join(["exec", "env", *map(shlex.quote, settings)])
    return f'p=$({looked}) && {begins} "$p" -c {shlex.quote(_SCRIPT)} {words}'


def read_probe(output: str) -> WrongCopy | None:
    """The first package that comes from elsewhere, by the lines of a probe."""
    for line in output.splitlines():
        words = line.split("\t")
        if len(words) == 4 and words[0] == MARK and words[2] != "here":
            return WrongCopy(words[1], words[3], words[2] == "editable")
    return None


def _beginning(check: str) -> tuple[list[str], list[str]]:
    """The variables that a command sets (`PYTHONPATH=src`), and its interpreter if it names one."""
    words = _words(check)
    settings = list(itertools.takewhile(_SETTING.match, words))
    return settings, [word for word in words[len(settings) :][:1] if _is_python(word)]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _is_python(word: str) -> bool:
    name = PurePosixPath(word).name
    return name.startswith("python") and not name.removeprefix("python").strip("0123456789.")
