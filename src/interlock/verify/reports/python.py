"""Reports of the test programs of Python."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

# pytest: its short summary by name (with `-rfEp` the passed tests too), and the counts of its last line.

_PYTEST_SUMMARY = re.compile(
    r"^=*[ \t]*(\d+ [a-z ]+(?:, \d+ [a-z ]+)*) in [\d.]+ ?s(?: \([\d:, a-z]+\))?[ \t]*=*$", re.MULTILINE
)
_PYTEST_NOTHING = re.compile(r"^=*[ \t]*no tests ran in [\d.]+ ?s[ \t]*=*$", re.MULTILINE)
_PYTEST_LISTED = "short test summary info"
_PYTEST_LINE = re.compile(r"^(PASSED|FAILED|ERROR) (\S.*)$")


def read_pytest(text: str) -> SuiteResult | None:
    sessions = [_pytest_counts(match[1]) for match in _PYTEST_SUMMARY.finditer(text)]
    if not sessions:
        return SuiteResult() if _PYTEST_NOTHING.search(text) else None
    lines = [match for line in _pytest_summaries(text) if (match := _PYTEST_LINE.match(line))]
    failed = dict.fromkeys(_pytest_node(match[2]) for match in lines if match[1] != "PASSED")
    # A test may pass and then fail while it is taken down.
    passed = dict.fromkeys(match[2].rstrip() for match in lines if match[1] == "PASSED")
    return SuiteResult(
        tuple(name for name in passed if name not in failed),
        tuple(failed),
        sum(counts.get("passed", 0) for counts in sessions),
        sum(counts.get(word, 0) for counts in sessions for word in ("failed", "error", "errors")),
    )


def _pytest_summaries(text: str) -> list[str]:
    """The lines after each heading of a summary; what tests print themselves comes before it."""
    parts = re.split(rf"^=+ {_PYTEST_LISTED} =+$", text, flags=re.MULTILINE)[1:]
    return [line for part in parts for line in part.split("\n= ", 1)[0].splitlines()]


def _pytest_counts(text: str) -> dict[str, int]:
    pairs = (part.split(" ", 1) for part in text.split(", "))
    return {word: int(number) for number, word in pairs}


def _pytest_node(text: str) -> str:
    """The name of a test without the message behind it; a parameter may hold the same dash."""
    depth, at = 0, 0
    for match in re.finditer(" - ", text):
        part = text[at : match.start()]
        depth, at = depth + part.count("[") - part.count("]"), match.start()
        if depth <= 0:
            return text[:at]
    return text.rstrip()


# unittest, and test programs that print like it (Django's): failures by name, the rest by number.

_UNITTEST_RAN = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\n+(OK|FAILED|NO TESTS RAN)?(?: \((.*)\))?$", re.MULTILINE
)
_UNITTEST_BAD = re.compile(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+ \(\S+\).*)$", re.MULTILINE)
_UNITTEST_GOOD = re.compile(r"^(\S+ \(\S+\))(?:.*|\n.*) \.\.\. ok$", re.MULTILINE)
"""With `-v`. The first line of a docstring is on a line of its own."""


def read_unittest(text: str) -> SuiteResult | None:
    runs = list(_UNITTEST_RAN.finditer(text))
    if not runs:
        return None
    ran = sum(int(run[1]) for run in runs)
    failed = sum(
        _unittest_number(run[3], word)
        for run in runs
        for word in ("failures", "errors", "unexpected successes")
    )
    skipped = sum(_unittest_number(run[3], "skipped") for run in runs)
    bad = [(name, False) for name in dict.fromkeys(_UNITTEST_BAD.findall(text))]
    good = [(name, True) for name in _UNITTEST_GOOD.findall(text)]
    return suite_of([*good, *bad], max(0, ran - failed - skipped), failed)


def _unittest_number(counts: str | None, word: str) -> int:
    found = re.search(rf"\b{word}=(\d+)", counts or "")
    return int(found[1]) if found else 0
