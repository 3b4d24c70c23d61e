"""vitest: failing tests by name. What passed is named by `--reporter=verbose`, and otherwise counted."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TESTS = re.compile(r"^ +Tests +(.*\(\d+\).*|no tests)$", re.MULTILINE)
_FAIL = re.compile(r"^ *FAIL +(.+)$", re.MULTILINE)
_PASS = re.compile(r"^ [✓√] (\S.*? > .+?)(?: \((?:retry|repeat) x\d+\))*(?: +[\d.]+m?s)?$", re.MULTILINE)


def read_vitest(text: str) -> SuiteResult | None:
    """Failures by name and all counts; None if vitest did not sum up."""
    sums = _TESTS.findall(text)
    if not sums:
        return None
    failed = [(name.strip(), False) for name in dict.fromkeys(_FAIL.findall(text))]
    passed, passed_count = _PASS.findall(text), _number(sums, "passed")
    # Other lines may look like it: it is the verbose report if all are there.
    tests = [*((name, True) for name in passed), *failed] if len(passed) == passed_count else failed
    return suite_of(tests, passed_count, _number(sums, "failed"))


def _number(sums: list[str], word: str) -> int:
    return sum(int(number) for text in sums for number in re.findall(rf"(\d+) {word}\b", text))
