"""Reports of the test programs of Go, Rust, C and C++."""

import json
import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

# go test, plain, with `-v` and with `-json`. Without `-v` a package that passed counts as one test.

_GO_TEST = re.compile(r"^ *--- (PASS|FAIL): (\S+) \([\d.]+s\)$")
_GO_PACKAGE = re.compile(r"^(ok  |FAIL)\t(\S+)(?:\t| \[)(.*)$")
_GO_BEGIN = '{"Time"', '{"Action"'


def read_go(text: str) -> SuiteResult | None:
    lines = text.splitlines()
    tests = list(_go_from_json(lines)) or list(_go_from_text(lines))
    return suite_of(tests) if tests else None


def _go_from_json(lines: list[str]) -> Iterator[tuple[str, bool]]:
    for line in lines:
        if not line.startswith(_GO_BEGIN):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if event.get("Action") in ("pass", "fail") and event.get("Test"):
            yield f"{event.get('Package')} {event['Test']}", event["Action"] == "pass"
        elif event.get("Action") == "build-fail":
            yield f"{event.get('ImportPath')} [build failed]", False


def _go_from_text(lines: list[str]) -> Iterator[tuple[str, bool]]:
    waiting: list[tuple[str, bool]] = []
    for line in lines:
        if found := _GO_TEST.match(line):
            waiting.append((found[2], found[1] == "PASS"))
        elif found := _GO_PACKAGE.match(line):
            package, is_good = found[2], found[1] != "FAIL"
            for name, passed in waiting:
                yield f"{package} {name}", passed
            if not waiting or all(passed for _, passed in waiting) != is_good:
                yield package, is_good
            waiting = []


# cargo test: every test by name, in the order of the targets.

_CARGO_TARGET = re.compile(r"^ +(?:Running (?:unittests )?(\S+) \(|Doc-tests (\S+)$)")
_CARGO_TEST = re.compile(r"^test (.+?) \.\.\. (ok|FAILED)(?: \(.*\))?$")
_CARGO_SUMMARY = re.compile(r"^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed;", re.MULTILINE)
_CARGO_LINE = re.compile(r" \(line \d+\)")
"""The line of a documentation test, which moves with the code around it."""


def read_cargo(text: str) -> SuiteResult | None:
    if not _CARGO_SUMMARY.search(text):
        return None
    target = ""
    tests: list[tuple[str, bool]] = []
    for line in text.splitlines():
        if found := _CARGO_TARGET.match(line):
            target = found[1] or f"doc {found[2]}"
        elif found := _CARGO_TEST.match(line):
            tests.append((f"{target} {_CARGO_LINE.sub('', found[1])}".strip(), found[2] == "ok"))
    return suite_of(tests)


# ctest, as it prints by default: the lines of the tests and one that sums up.

_CTEST_SUMMARY = re.compile(
    r"^\d+% tests passed, \d+ tests? failed out of \d+$|^No tests were found!!!$", re.MULTILINE
)
_CTEST_TEST = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.*(?: +Passed|(.*)\*\*\*(\S+))", re.MULTILINE)
_CTEST_DID_NOT_RUN = ("Skipped", "Disabled")


def read_ctest(text: str) -> SuiteResult | None:
    """Tests by name; None if ctest did not sum up. One whose program is missing has failed."""
    if not _CTEST_SUMMARY.search(text):
        return None
    return suite_of(
        (name, not verdict)
        for name, _, verdict in _CTEST_TEST.findall(text)
        if not verdict.startswith(_CTEST_DID_NOT_RUN)
    )


# `meson test`, as it prints by default.

_MESON_SUMMARY = re.compile(r"^Ok: +\d+ *$", re.MULTILINE)
_MESON_TEST = re.compile(
    r"^ *\d+/\d+ (.+?) +(OK|FAIL|ERROR|TIMEOUT|EXPECTEDFAIL|UNEXPECTEDPASS|INTERRUPT) +[\d.]+ ?s\b",
    re.MULTILINE,
)
_MESON_GREEN = ("OK", "EXPECTEDFAIL")


def read_meson(text: str) -> SuiteResult | None:
    if not _MESON_SUMMARY.search(text):
        return None
    return suite_of((name, verdict in _MESON_GREEN) for name, verdict in _MESON_TEST.findall(text))


# `make check` of automake: a line for each test, and a summary.

_AUTOMAKE_SUMMARY = re.compile(r"^# TOTAL: +\d+$", re.MULTILINE)
_AUTOMAKE_TEST = re.compile(r"^(PASS|XFAIL|FAIL|XPASS|ERROR): (.+)$", re.MULTILINE)
_AUTOMAKE_GREEN = ("PASS", "XFAIL")


def read_automake(text: str) -> SuiteResult | None:
    if not _AUTOMAKE_SUMMARY.search(text):
        return None
    return suite_of((name, verdict in _AUTOMAKE_GREEN) for verdict, name in _AUTOMAKE_TEST.findall(text))
