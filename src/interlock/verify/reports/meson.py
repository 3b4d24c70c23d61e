"""`meson test`, as it prints by default."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_SUMMARY = re.compile(r"^Ok: +\d+ *$", re.MULTILINE)
_TEST = re.compile(
    r"^ *\d+/\d+ (.+?) +(OK|FAIL|ERROR|TIMEOUT|EXPECTEDFAIL|UNEXPECTEDPASS|INTERRUPT) +[\d.]+ ?s\b",
    re.MULTILINE,
)
_GREEN = ("OK", "EXPECTEDFAIL")


def read_meson(text: str) -> SuiteResult | None:
    """Tests by suite and name; None if meson did not sum up."""
    if not _SUMMARY.search(text):
        return None
    return suite_of((name, verdict in _GREEN) for name, verdict in _TEST.findall(text))
