"""vitest: failing tests by name, the others by number."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TESTS = re.compile(r"^ +Tests +(.*\(\d+\).*|no tests)$", re.MULTILINE)
_FAIL = re.compile(r"^ *FAIL +(.+)$", re.MULTILINE)


def read_vitest(text: str) -> SuiteResult | None:
    """Failures by name and all counts; None if vitest did not sum up."""
    sums = _TESTS.findall(text)
    if not sums:
        return None
    failed = [(name.strip(), False) for name in dict.fromkeys(_FAIL.findall(text))]
    return suite_of(failed, _number(sums, "passed"), _number(sums, "failed"))


def _number(sums: list[str], word: str) -> int:
    return sum(int(number) for text in sums for number in re.findall(rf"(\d+) {word}\b", text))
