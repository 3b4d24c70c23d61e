"""`make check` of automake: a line for each test, and a summary."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_SUMMARY = re.compile(r"^# TOTAL: +\d+$", re.MULTILINE)
_TEST = re.compile(r"^(PASS|XFAIL|FAIL|XPASS|ERROR): (.+)$", re.MULTILINE)
_GREEN = ("PASS", "XFAIL")


def read_automake(text: str) -> SuiteResult | None:
    """Tests by name; None if automake did not sum up."""
    if not _SUMMARY.search(text):
        return None
    return suite_of((name, verdict in _GREEN) for verdict, name in _TEST.findall(text))
