"""cargo test: every test by name, in the order of the targets."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TARGET = re.compile(r"^ +(?:Running (?:unittests )?(\S+) \(|Doc-tests (\S+)$)")
_TEST = re.compile(r"^test (.+?) \.\.\. (ok|FAILED)(?: \(.*\))?$")
_SUMMARY = re.compile(r"^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed;", re.MULTILINE)
_LINE = re.compile(r" \(line \d+\)")
"""The line of a documentation test, which moves with the code around it."""


def read_cargo(text: str) -> SuiteResult | None:
    """Tests by target and name; None if cargo did not sum up."""
    if not _SUMMARY.search(text):
        return None
    target = ""
    tests: list[tuple[str, bool]] = []
    for line in text.splitlines():
        if found := _TARGET.match(line):
            target = found[1] or f"doc {found[2]}"
        elif found := _TEST.match(line):
            tests.append((f"{target} {_LINE.sub('', found[1])}".strip(), found[2] == "ok"))
    return suite_of(tests)
