"""pytest: its short summary by name (with `-rfEp` the passed tests too), and the counts of its last line."""

import re

from interlock.model.suite import SuiteResult

_SUMMARY = re.compile(
    r"^=*[ \t]*(\d+ [a-z ]+(?:, \d+ [a-z ]+)*) in [\d.]+ ?s(?: \([\d:, a-z]+\))?[ \t]*=*$", re.MULTILINE
)
_NOTHING = re.compile(r"^=*[ \t]*no tests ran in [\d.]+ ?s[ \t]*=*$", re.MULTILINE)
_LISTED = "short test summary info"
_LINE = re.compile(r"^(PASSED|FAILED|ERROR) (\S.*)$")


def read_pytest(text: str) -> SuiteResult | None:
    """All sessions in the text; None if there is none."""
    sessions = [_counts(match[1]) for match in _SUMMARY.finditer(text)]
    if not sessions:
        return SuiteResult() if _NOTHING.search(text) else None
    lines = [match for line in _summaries(text) if (match := _LINE.match(line))]
    failed = dict.fromkeys(_node(match[2]) for match in lines if match[1] != "PASSED")
    # A test may pass and then fail while it is taken down.
    passed = dict.fromkeys(match[2].rstrip() for match in lines if match[1] == "PASSED")
    return SuiteResult(
        tuple(name for name in passed if name not in failed),
        tuple(failed),
        sum(counts.get("passed", 0) for counts in sessions),
        sum(counts.get(word, 0) for counts in sessions for word in ("failed", "error", "errors")),
    )


def _summaries(text: str) -> list[str]:
    """The lines after each heading of a summary; what tests print themselves comes before it."""
    parts = re.split(rf"^=+ {_LISTED} =+$", text, flags=re.MULTILINE)[1:]
    return [line for part in parts for line in part.split("\n= ", 1)[0].splitlines()]


def _counts(text: str) -> dict[str, int]:
    pairs = (part.split(" ", 1) for part in text.split(", "))
    return {word: int(number) for number, word in pairs}


def _node(text: str) -> str:
    """The name of a test without the message behind it; a parameter may hold the same dash."""
    depth, at = 0, 0
    for match in re.finditer(" - ", text):
        part = text[at : match.start()]
        depth, at = depth + part.count("[") - part.count("]"), match.start()
        if depth <= 0:
            return text[:at]
    return text.rstrip()
