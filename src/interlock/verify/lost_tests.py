"""Finds the test files that a change removes or shortens, by its diff. Pure.

It is asked where no report counts the tests that ran. There the text of the tests is all there is to compare:

1. A file that is gone has lost its tests, unless git finds it again under another name of the same kind: what
   collects tests goes by names (`*.sh`, `test_*`). One that may not be executed any more is as good as gone.
2. So has one with fewer lines of code than before. Blank lines and comments are none.
3. A diff that is too long to be read shows nothing of the files at its end: they count as lost.
4. Beside a check with a report, only files that no such report is about are looked at (shell scripts and
   others that are no source), and only whether they are gone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from interlock.verify.sources import extension, is_source, is_test

MOST_NAMED = 50
_COMMENT = re.compile(r"\s*(#(?!\[)|//|/?\*|--|$)")
_TEXT = ("", "sh", "bash", "bats", "t", "txt")
_START = "diff --git "


@dataclass(slots=True)
class _File:
    path: str
    is_gone: bool = False
    balance: int = 0
    """The lines of code that were added, less those that were removed."""


def files_of_tests(touched: Sequence[str]) -> tuple[str, ...]:
    """List the paths that hold tests, or data that tests read."""
    return tuple(path for path in touched if is_test(path))


def lost_tests(diff: str, paths: Sequence[str], *, is_whole: bool, is_counted: bool) -> tuple[str, ...]:
    """The files of `paths` that lost tests. `is_counted`: a report counts the tests of some check."""
    files = list(_files(diff))
    lost = [each.path for each in files if each.is_gone or (each.balance < 0 and not is_counted)]
    if not is_whole:
        shown = {each.path for each in files[:-1]}
        lost += [path for path in paths if path not in shown]
    if is_counted:
        lost = [path for path in lost if not is_source(path)]
    return tuple(dict.fromkeys(lost))[:MOST_NAMED]


def _files(diff: str) -> Iterator[_File]:
    current: _File | None = None
    in_hunk = False
    for line in diff.split("\n"):  # other signs of a line's end may stand in a file
        if line.startswith(_START):
            if current:
                yield current
            current, in_hunk = _File(_path(line)), False
        elif current is None:
            continue
        elif line.startswith("@@"):
            in_hunk = True
        elif not in_hunk:
            current.is_gone = current.is_gone or _takes_away(current.path, line)
        elif line[:1] in ("+", "-") and not _COMMENT.match(line[1:]):
            current.balance += 1 if line[0] == "+" else -1
    if current:
        yield current


def _takes_away(path: str, line: str) -> bool:
    """Tell if a line before the text of a file says that it no longer runs as a test."""
    if line.startswith("rename to "):
        return _kind(path) != _kind(line.removeprefix("rename to ").strip('"'))
    if line.startswith(
        ("Binary files a/", 'Binary files "a/')
    ):  # a sign that no text has can hide the lines that are gone
        return is_source(path) or extension(path) in _TEXT
    return line.startswith(("deleted file mode", "old mode 100755"))


def _kind(path: str) -> tuple[str, bool]:
    """Return what test runners select files by: the extension, and if the name says test."""
    name = PurePosixPath(path).name.lower()
    return extension(path), name.startswith("test") or bool(re.search(r"[._-](test|spec)s?\b", name))


def _path(line: str) -> str:
    """The old path in the first line of a file's part; quoted where git had to."""
    words = line.removeprefix(_START)
    quote = '"' if words.startswith('"') else ""
    return words.removeprefix(f"{quote}a/").partition(f"{quote} {quote}b/")[0]
