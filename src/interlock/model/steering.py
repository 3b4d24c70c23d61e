"""Files that decide how checks run, by name: a change that edits one can decide what its checks say."""

import re
import sys
from collections.abc import Iterable, Sequence

_NAMES = re.compile(
    r"conftest\.py|(site|user)customize\.py|\.?pytest\.ini|tox\.ini|tox\.toml|setup\.cfg|pyproject\.toml|noxfile\.py"
    r"|manage\.py|\.coveragerc|package\.json|\.npmrc|\.mocharc.*|\.taprc|(jest|vitest|vite|ava|karma|babel)\.conf(ig)?\..*"
    r"|(gnu)?makefile(\.am|\.in)?|.*\.mk|cmakelists\.txt|.*\.cmake|meson\.build|configure\.ac|build\.rs|cargo\.toml"
    r"|justfile|taskfile\.ya?ml|rakefile|(build|settings)\.gradle(\.kts)?|pom\.xml|\.gitlab-ci\.yml|\.travis\.yml"
)
_FOLDERS = (".github/workflows/", ".circleci/", ".cargo/", "node_modules/")
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "unittest", "doctest", "nose2", "coverage", "trial"})
"""Modules of Python that run tests. One of this name in the repository is found before the real one."""
_SCRIPTS = ("sh", "bash")


def steering(touched: Iterable[str], commands: Sequence[str] = ()) -> tuple[str, ...]:
    """Those of the paths that decide how these commands run."""
    named = {word.removeprefix("./") for command in commands for word in command.split()}
    return tuple(path for path in touched if _steers(path, named))


def _steers(path: str, named: set[str]) -> bool:
    *folders, name = path.split("/")
    if _NAMES.fullmatch(name.lower()) or path.startswith(_FOLDERS):
        return True
    module, dot, kind = name.rpartition(".")
    if path in named and (not dot or kind in _SCRIPTS):
        return True
    if kind != "py":
        return False
    first = folders[0] if folders else module
    return first in sys.stdlib_module_names or bool(_RUNNERS & {*folders, module})
