"""Totals without names, as test programs print them that people write by hand, often in C."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import plain, short_lines

_PART = r"(?:tests? (?:passed|failed)[:=] *\d+|\d+ tests? (?:passed|failed))"
_LINE = re.compile(rf"^[ \t]*{_PART}(?:[,;]?[ \t]{_PART})?[.!]?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_COUNT = re.compile(r"(\d+) tests? (passed|failed)|tests? (passed|failed)[:=] *(\d+)", re.IGNORECASE)


def read_totals(text: str) -> SuiteResult | None:
    """Return the sums of lines that hold nothing but totals: `Tests failed: 1`, `3 tests passed`. Any program
    may print such lines, so they count only where there is no other report."""
    counts = {"passed": 0, "failed": 0}
    for line in _LINE.finditer(short_lines(plain(text))):
        for before, word, other, after in _COUNT.findall(line[0]):
            counts[(word or other).lower()] += int((before or after)[:9])
    passed, failed = counts["passed"], counts["failed"]
    return SuiteResult((), (), passed, failed) if passed or failed else None
