"""node:test as it prints for people (`--test-reporter=spec`)."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_SUMMARY = re.compile(r"^\u2139 (pass|fail) (\d+)$", re.MULTILINE)
_LINE = re.compile(r"^( *)([✔✖▶]) (.+?)(?: \([\d.]+m?s\))?(?: # .*)?$")
_DETAILS = "✖ failing tests:"
INDENT = 2


def read_node(text: str) -> SuiteResult | None:
    """Tests by name; None if node did not sum up."""
    counts: dict[str, int] = {}
    for word, number in _SUMMARY.findall(text):
        counts[word] = counts.get(word, 0) + int(number)
    if not counts:
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    groups: set[str] = set()
    for line in text.split(_DETAILS, 1)[0].splitlines():
        if found := _LINE.match(line):
            around = around[: len(found[1]) // INDENT]
            name = " > ".join([*around, found[3]])
            if found[2] == "▶":
                around.append(found[3])
                groups.add(name)
            elif name not in groups:
                tests.append((name, found[2] == "✔"))
    return suite_of(tests, counts.get("pass", 0), counts.get("fail", 0))
