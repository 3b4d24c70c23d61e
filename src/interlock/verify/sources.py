"""Which files of a repository are its own source and which are its tests, by their names alone."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_SOURCE = re.compile(
    r"py|[cm]?js|jsx|[cm]?ts|tsx|c|cc|cpp|cxx|m|go|rs|java|kt|scala|cs|rb|php|swift|ex|lua|pl|hs|ml"
)
"""How the names of source files end. Shell scripts are not among them: most are helpers that no test runs."""
_TEST_FOLDER = re.compile(r"tests?|testing|__tests__|specs?|e2e|testdata|fixtures")
_OTHER_FOLDER = re.compile(
    r"docs?|examples?|samples?|demos?|bench|benchmarks?|scripts|tools|ci|vendor|third_party|node_modules"
    r"|dist|build|out|target|migrations|site-packages|locale|static|contrib|\..*"
)
"""What is in there is not what tests are about."""
_OTHER_NAME = re.compile(
    r"setup\.py|conf\.py|noxfile\.py|tasks\.py|g(ulp|runt)file\.js|build\.rs|.*\.(config|min|d)\..*"
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
    """What is worth reading of a repository to find what its tests test."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def select(files: Iterable[Listed]) -> Selection:
    """The source and the tests, a bounded number of each: what lies near the top of the tree first."""
    small = [file.path for file in files if file.size <= _MOST_BYTES and is_source(file.path)]
    tests = [path for path in small if is_test(path)]
    sources = [path for path in small if not is_test(path) and is_own_source(path)]
    return Selection(_nearest(sources, _MOST_SOURCES), _nearest(tests, _MOST_TESTS))


def is_source(path: str) -> bool:
    """Would a change of this file be a change of what the program does, or of its tests."""
    return bool(_SOURCE.fullmatch(extension(path)))


def is_test(path: str) -> bool:
    """Is it a test, by the usual names."""
    pure = PurePosixPath(path)
    stem = pure.name.lower().rsplit(".", 1)[0]
    if any(_TEST_FOLDER.fullmatch(part.lower()) for part in pure.parts[:-1]):
        return True
    begins, ends = stem.startswith(("test_", "tests_")), stem.endswith(("_test", "_tests", ".test", ".spec"))
    return begins or ends or stem in ("test", "tests", "conftest", "spec", "smoke", "selftest", "testsuite")


def is_own_source(path: str) -> bool:
    """Is it the project's own code, and neither a tool, an example nor somebody else's."""
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
