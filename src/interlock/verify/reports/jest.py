"""jest: failing tests by name, the others by number."""

import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TESTS = re.compile(r"^Tests: +(.*\d+ total)$", re.MULTILINE)
_FILE = re.compile(r"^(?:FAIL|PASS) (\S.*?)(?: \([\d.]+ m?s\))?$")
_BAD = re.compile(r"^  ● (.+)$")


def read_jest(text: str) -> SuiteResult | None:
    """Failures by name and all counts; None if jest did not sum up."""
    sums = _TESTS.findall(text)
    if not sums:
        return None
    failed = [(name, False) for name in dict.fromkeys(_failures(text))]
    return suite_of(failed, _number(sums, "passed"), _number(sums, "failed"))


def _failures(text: str) -> Iterator[str]:
    file = ""
    for line in text.splitlines():
        if found := _FILE.match(line):
            file = found[1]
        elif found := _BAD.match(line):
            yield f"{file} > {found[1]}".replace(" \u203a ", " > ")


def _number(sums: list[str], word: str) -> int:
    return sum(int(number) for text in sums for number in re.findall(rf"(\d+) {word}\b", text))
