"""JUnit XML in the output of a command."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_BEGIN = re.compile(r"<(testsuites?)\b")


def read_junit(text: str) -> SuiteResult | None:
    """Tests by class and name; None if there is no such document."""
    tests = [test for document in _documents(text) for test in _tests(document)]
    return suite_of(tests) if tests else None


def _documents(text: str) -> Iterator[str]:
    """From each opening tag to the first closing one. A tag without an end is looked for only once."""
    at, endless = 0, set[str]()
    while found := _BEGIN.search(text, at):
        closing = f"</{found[1]}>"
        end = -1 if closing in endless else text.find(closing, found.end())
        if end < 0:
            endless.add(closing)
            at = found.end()
        else:
            at = end + len(closing)
            yield text[found.start() : at]


def _tests(document: str) -> Iterator[tuple[str, bool]]:
    try:
        root = ElementTree.fromstring(document)  # noqa: S314 - see above
    except ElementTree.ParseError:
        return
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        if "skipped" not in kinds:
            name = " ".join(filter(None, (case.get("classname"), case.get("name"))))
            yield name, not kinds & {"failure", "error"}
