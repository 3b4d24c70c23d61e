"""mocha, as it prints by default: titles by indentation, then what passed and what failed."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_PASSING = re.compile(r"^  (\d+) passing\b.*$", re.MULTILINE)
_FAILING = re.compile(r"^  (\d+) failing$", re.MULTILINE)
_TITLE = re.compile(r"^((?:  )+)(\S.*)$")
_GOOD = re.compile(r"^[✔✓√] (.+?)(?: \(\d+ms\))?$")
_BAD = re.compile(r"^\d+\) (.+)$")


def read_mocha(text: str) -> SuiteResult | None:
    """Tests by name; None if mocha did not sum up."""
    passing = _PASSING.search(text)
    if not passing:
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    for line in text[: passing.start()].splitlines():
        title = _TITLE.match(line)
        if not title:
            continue
        depth = len(title[1]) // 2 - 1
        around = around[:depth]
        if found := _GOOD.match(title[2]) or _BAD.match(title[2]):
            tests.append((" > ".join([*around, found[1]]), title[2][0] in "✔✓√"))
        elif not title[2].startswith("- "):
            around.append(title[2])
    failing = _FAILING.search(text)
    return suite_of(tests, int(passing[1]), int(failing[1]) if failing else 0)
