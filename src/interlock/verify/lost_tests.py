"""Finds the test files that a change removes or shortens, by its diff. Pure.

It is asked where no report counts the tests that ran. There the text of the tests is all there is to compare:

1. A file that is gone has lost its tests, unless git finds it again under another name of the same kind: what
   collects tests goes by names (`*.sh`, `test_*`). One that may not be executed any more is as good as gone.
2. So has one with fewer lines of code than before. Blank lines and comments are none.
3. A diff that is too long to be read shows nothing of the files at its end: they count as lost.
4. What undoes a change may take its tests along: those whose name stands in a line that it removes, in the
   file that the report names for the test if it names one, and in no line that it adds there.
5. Beside a check with a report, only files that no such report is about are looked at (shell scripts and
   others that are no source), and only whether they are gone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
    added: list[str] = field(default_factory=list)
    """Lines of code."""
    removed: list[str] = field(default_factory=list)

    @property
    def balance(self) -> int:
        return len(self.added) - len(self.removed)

    def takes(self, title: str) -> bool:
        """Tell if the name of a test stands in a line that is gone, and in none that is new."""
        word = re.compile(rf"(?<!\w){re.escape(title)}(?!\w)")
        return any(map(word.search, self.removed)) and not any(map(word.search, self.added))


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


def removed_tests(diff: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of these tests that the diff of an undo removes (rule 4)."""
    files = list(_files(diff))
    return frozenset(name for name in names if any(_takes(each, name) for each in files))


def _takes(each: _File, name: str) -> bool:
    place, _, _ = name.partition("[")
    path, separator, _ = place.partition("::")
    title = re.split(r"::| > | \u203a ", place)[-1].partition(" (")[0].strip()
    is_here = not separator or each.path == path or each.path.endswith(f"/{path}")
    return bool(title) and is_here and each.takes(title)


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
            (current.added if line[0] == "+" else current.removed).append(line[1:])
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
