"""ava, as it prints by default."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_SUMMARY = re.compile(r"^  (\d+) tests? (passed|failed)$", re.MULTILINE)
_LINE = re.compile(r"^  (✔|✘ \[fail\]:|✖) (.+?)(?: \([\d.]+m?s\))?$", re.MULTILINE)
_BEHIND = re.compile(r" (?:Error thrown in test|Rejected promise returned by test|Test finished .*)$")


def read_ava(text: str) -> SuiteResult | None:
    """Tests by name; None if ava did not sum up."""
    counts: dict[str, int] = {}
    for number, word in _SUMMARY.findall(text):
        counts[word] = counts.get(word, 0) + int(number)
    if not counts:
        return None
    body = text[: next(_SUMMARY.finditer(text)).start()]
    tests = [(_BEHIND.sub("", name), mark == "✔") for mark, name in _LINE.findall(body)]
    return suite_of(
        tests, counts.get("passed"), counts.get("failed")
    )  # what passed is counted only if all did
