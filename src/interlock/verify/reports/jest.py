"""jest: failing tests by name. What passed is named by `--verbose`, and otherwise counted.

With a single test file jest prints as with `--verbose`, and no longer once there is a second one. Names that
the next report may not have cannot be compared with it, so passed tests are only counted there.
"""

import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TESTS = re.compile(r"^Tests: +(.*\d+ total)$", re.MULTILINE)
_FILE = re.compile(r"^(?:FAIL|PASS) (\S.*?)(?: \([\d.]+ m?s\))?$")
_BAD = re.compile(r"^  ● (.+)$")
_TREE = re.compile(r"^((?:  )+)(?:([✓✕○✎√]) )?(\S.*?)(?: \([\d.]+ m?s\))?$")


def read_jest(text: str) -> SuiteResult | None:
    """Failures by name and all counts; None if jest did not sum up."""
    sums = _TESTS.findall(text)
    if not sums:
        return None
    lines = text.splitlines()
    failed = [(name, False) for name in dict.fromkeys(_failures(lines))]
    passed, passed_count = list(_passes(lines)), _number(sums, "passed")
    is_named = len(passed) == passed_count and sum(bool(_FILE.match(line)) for line in lines) > 1
    tests = [*((name, True) for name in passed), *failed] if is_named else failed
    return suite_of(tests, passed_count, _number(sums, "failed"))


def _failures(lines: list[str]) -> Iterator[str]:
    file = ""
    for line in lines:
        if found := _FILE.match(line):
            file = found[1]
        elif found := _BAD.match(line):
            yield f"{file} > {found[1]}".replace(" \u203a ", " > ")


def _passes(lines: list[str]) -> Iterator[str]:
    """The tree below the line of each file: titles by indentation, up to the first line that is not of it."""
    around: list[str] | None = None
    for line in lines:
        if found := _FILE.match(line):
            around = [found[1]]
        elif around and (found := _TREE.match(line)) and not _BAD.match(line):
            around = around[: len(found[1]) // 2]
            if found[2] in ("✓", "√"):
                yield " > ".join([*around, found[3]])
            elif not found[2]:
                around.append(found[3])
        else:
            around = None


def _number(sums: list[str], word: str) -> int:
    return sum(int(number) for text in sums for number in re.findall(rf"(\d+) {word}\b", text))
