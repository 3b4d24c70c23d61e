"""JUnit XML, in the output of a command or in a file that it wrote.

The text comes from the program under test. So the parser builds no tree, refuses documents that declare a
type or an entity, and takes a document in one piece: its time grows with the length and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_BEGIN = re.compile(r"<(testsuites?)\b")
_SUITES = ("testsuite", "testsuites")
_BAD = ("failure", "error")
_NOT_RUN = ("notrun", "disabled", "skipped")
"""Marks of googletest and ctest for a test that did not run, some of them without an element for it."""


class NotJUnit(Exception):
    """A document with another root."""


class BrokenReport(Exception):
    """A document that cannot be read to its end, or that declares entities."""


def read_junit(text: str) -> SuiteResult | None:
    """Tests by class and name; None if there is no such document."""
    found: list[Tests] = []
    for document in _documents(text):
        try:
            found.append(read_document(document.encode(errors="replace")))
        except (NotJUnit, BrokenReport):
            continue
    return joined(found)


def joined(found: "list[Tests]") -> SuiteResult | None:
    """All documents together; None if they name no test."""
    tests = [test for each in found for test in each.results]
    if not tests:
        return None
    untold = sum(each.untold for each in found)
    return suite_of(tests, failed_count=sum(not passed for _, passed in tests) + untold)


@dataclass(slots=True)
class Tests:
    """The tests of one document."""

    results: list[tuple[str, bool]] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    """Their classes and their own names, each alone: lines of output that hold one speak of a test."""
    untold: int = 0
    """Failures that a suite counts and no test shows: a class that could not be set up."""


def read_document(document: bytes) -> Tests:
    """The tests of one document. Raises `NotJUnit` at its first element, `BrokenReport` anywhere."""
    reading = _Reading()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(document, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise BrokenReport(str(error)) from error
    return reading.tests


def _refuse(*_: object) -> None:
    raise BrokenReport("it declares a document type")


class _Reading:
    """Follows the elements of one document."""

    def __init__(self) -> None:
        self.tests = Tests()
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._kinds: set[str] = set()
        self._suites: list[tuple[int, int]] = []
        """For each suite around: the failures that it counts, and those seen before it."""
        self._failures = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and tag not in _SUITES:
            raise NotJUnit(tag)
        if self._case is not None:
            self._kinds.add(tag)
        elif tag == "testcase":
            self._case, self._kinds = attributes, set()
        elif tag in _SUITES:
            counted = sum(_number(attributes.get(word)) for word in ("failures", "errors"))
            self._suites.append((counted, self._failures))

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase" and self._case is not None:
            self._take(self._case)
            self._case = None
        elif tag in _SUITES and self._case is None:
            counted, before = self._suites.pop()
            missing = max(0, counted - (self._failures - before))
            self.tests.untold += missing
            self._failures += missing

    def _take(self, case: dict[str, str]) -> None:
        failed = not self._kinds.isdisjoint(_BAD)
        skipped = "skipped" in self._kinds or case.get("status", "").lower() in _NOT_RUN
        self._failures += failed
        if failed or not skipped:
            # ctest writes the same name into both.
            parts = dict.fromkeys(" ".join(case.get(word, "").split()) for word in ("classname", "name"))
            self.tests.words.update(filter(None, parts))
            self.tests.results.append((" ".join(filter(None, parts)), not failed))


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _documents(text: str) -> Iterator[str]:
    """Yield each document, from its opening tag to the first closing one. An end that is missing is searched
    only once for each kind of tag."""
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
