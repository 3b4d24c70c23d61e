"""Finds a repository's own source files and its tests, by their names alone."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_SOURCE = re.compile(
    r"py|[cm]?js|jsx|[cm]?ts|tsx|c|cc|cpp|cxx|m|go|rs|java|kt|scala|cs|rb|php|swift|ex|lua|pl|hs|ml"
)
"""Extensions of source files. Shell scripts are not among them: most are helpers that no test runs."""
SHELL = frozenset({"sh", "bash"})
_TEST_FOLDER = re.compile(r"tests?|testing|__tests__|specs?|e2e|testdata|fixtures")
_TEST_NAME = re.compile(
    r"tests?[_-].*|.*([_-]tests?|\.test|[._-]spec)|tests?|conftest|spec|smoke|selftest|testsuite",
    re.DOTALL,
)
_OTHER_FOLDER = re.compile(
    r"docs?|examples?|samples?|demos?|bench|benchmarks?|scripts|tools|ci|vendor|third_party|node_modules"
    r"|dist|build|out|target|migrations|site-packages|locale|static|contrib|\..*",
    re.DOTALL,
)
"""Folders whose files no test is about."""
_OTHER_NAME = re.compile(
    r"setup\.py|conf\.py|noxfile\.py|tasks\.py|g(ulp|runt)file\.js|build\.rs|.*\.(config|min|d)\..*",
    re.DOTALL,
)
_MOST_BYTES = 200_000
"""A larger file was made by a program."""
_MOST_SOURCES = 1_500
_MOST_TESTS = 600


@dataclass(frozen=True, slots=True)
class Listed:
    """One file of a tree."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to read in order to find what the tests of a repository test."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def select(files: Iterable[Listed]) -> Selection:
    """The source and the tests, a bounded number of each: what lies near the top of the tree first."""
    small = [file.path for file in files if file.size <= _MOST_BYTES and is_source(file.path)]
    tests = [path for path in small if is_test(path)]
    sources = [path for path in small if not is_test(path) and is_own_source(path)]
    return Selection(_nearest(sources, _MOST_SOURCES), _nearest(tests, _MOST_TESTS))


def select_scripts(files: Iterable[Listed]) -> Selection:
    """The shell scripts of a project that has no other source, and its tests."""
    small = [file.path for file in files if file.size <= _MOST_BYTES]
    tests = [path for path in small if is_test(path)]
    scripts = [path for path in small if extension(path) in SHELL and is_own_source(path)]
    own = [path for path in scripts if not is_test(path)]
    return Selection(_nearest(own, _MOST_SOURCES), _nearest(tests, _MOST_TESTS))


def is_source(path: str) -> bool:
    """Return True if a change of this file changes the program or its tests."""
    return bool(_SOURCE.fullmatch(extension(path)))


def is_test(path: str) -> bool:
    """Return True for a test, by the usual names."""
    pure = PurePosixPath(path)
    stem = pure.name.lower().rsplit(".", 1)[0]
    if any(_TEST_FOLDER.fullmatch(part.lower()) for part in pure.parts[:-1]):
        return True
    return bool(_TEST_NAME.fullmatch(stem)) or extension(path) in ("t", "bats")


def is_own_source(path: str) -> bool:
    """Return True for the project's own code: no tool, no example, no code of others."""
    pure = PurePosixPath(path)
    if any(_OTHER_FOLDER.fullmatch(part.lower()) for part in pure.parts[:-1]):
        return False
    return not _OTHER_NAME.fullmatch(pure.name.lower())


def extension(path: str) -> str:
    """The end of a file's name, in small letters."""
    stem, _, end = path.rpartition("/")[2].rpartition(".")  # `PurePosixPath` takes 20 times as long
    return end.lower() if stem else ""


def _nearest(paths: Sequence[str], most: int) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: (path.count("/"), path))[:most])
