"""TAP, as node:test, tap and many others write it. A nested test is named after those around it."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_PLAN = re.compile(r"^1\.\.\d+\b", re.MULTILINE)
_SUITE = re.compile(r"^ *type: 'suite'$")
_RESULT = re.compile(r"^( *)(not )?ok\b *(\d+)?(?: -)? *(.*)$")
_SUBTEST = re.compile(r"^( *)# Subtest: (.+)$")
_DIRECTIVE = re.compile(r"(?<!\\)# *(skip|todo)\b", re.IGNORECASE)
_TIME = re.compile(r"\s*# *time=.*$")
INDENT = 4


def read_tap(text: str) -> SuiteResult | None:
    """Tests by name; None if this is no TAP, or TAP without its plan: node:test prints that where another
    test program runs it."""
    if not _PLAN.search(text):
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    groups: set[str] = set()
    known = 0
    for line in text.splitlines():
        if opened := _SUBTEST.match(line):
            depth = len(opened[1]) // INDENT
            around = [*around[:depth], opened[2].strip()]
        elif result := _RESULT.match(line):
            known = len(tests)
            _take(result, around, tests, groups)
        elif _SUITE.match(line):
            del tests[known:]  # a suite without tests
    return suite_of(tests) if tests else SuiteResult()


def _take(result: re.Match[str], around: list[str], tests: list[tuple[str, bool]], groups: set[str]) -> None:
    depth = len(result[1]) // INDENT
    title = _TIME.sub("", _DIRECTIVE.split(result[4])[0]).strip() or f"test {result[3]}"
    name = " > ".join([*around[:depth], title])
    groups.update(" > ".join(around[:end]) for end in range(1, depth + 1))
    # A result that sums up the ones nested in it is no test of its own.
    if name not in groups and not _DIRECTIVE.search(result[4]):
        tests.append((name, not result[2]))
