"""JUnit XML in the output of a command."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_DOCUMENT = re.compile(r"<testsuites\b.*?</testsuites>|<testsuite\b.*?</testsuite>", re.DOTALL)


def read_junit(text: str) -> SuiteResult | None:
    """Tests by class and name; None if there is no such document."""
    tests = [test for document in _DOCUMENT.findall(text) for test in _tests(document)]
    return suite_of(tests) if tests else None


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
