"""unittest, and test programs that print like it (Django's): failures by name, the rest by number."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_RAN = re.compile(r"^Ran (\d+) tests? in [\d.]+s\n+(OK|FAILED|NO TESTS RAN)?(?: \((.*)\))?$", re.MULTILINE)
_BAD = re.compile(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+ \(\S+\).*)$", re.MULTILINE)
_GOOD = re.compile(r"^(\S+ \(\S+\))(?:.*|\n.*) \.\.\. ok$", re.MULTILINE)
"""With `-v`. The first line of a docstring is on a line of its own."""


def read_unittest(text: str) -> SuiteResult | None:
    """All runs in the text; None if there is none."""
    runs = list(_RAN.finditer(text))
    if not runs:
        return None
    ran = sum(int(run[1]) for run in runs)
    failed = sum(
        _number(run[3], word) for run in runs for word in ("failures", "errors", "unexpected successes")
    )
    skipped = sum(_number(run[3], "skipped") for run in runs)
    bad = [(name, False) for name in dict.fromkeys(_BAD.findall(text))]
    good = [(name, True) for name in _GOOD.findall(text)]
    return suite_of([*good, *bad], max(0, ran - failed - skipped), failed)


def _number(counts: str | None, word: str) -> int:
    found = re.search(rf"\b{word}=(\d+)", counts or "")
    return int(found[1]) if found else 0
