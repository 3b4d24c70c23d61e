"""go test, plain, with `-v` and with `-json`. Without `-v` a package that passed counts as one test."""

import json
import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_TEST = re.compile(r"^ *--- (PASS|FAIL): (\S+) \([\d.]+s\)$")
_PACKAGE = re.compile(r"^(ok  |FAIL)\t(\S+)(?:\t| \[)(.*)$")
_BEGIN = '{"Time"', '{"Action"'


def read_go(text: str) -> SuiteResult | None:
    """Tests by package and name; None if no package is named."""
    lines = text.splitlines()
    tests = list(_from_json(lines)) or list(_from_text(lines))
    return suite_of(tests) if tests else None


def _from_json(lines: list[str]) -> Iterator[tuple[str, bool]]:
    for line in lines:
        if not line.startswith(_BEGIN):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if event.get("Action") in ("pass", "fail") and event.get("Test"):
            yield f"{event.get('Package')} {event['Test']}", event["Action"] == "pass"
        elif event.get("Action") == "build-fail":
            yield f"{event.get('ImportPath')} [build failed]", False


def _from_text(lines: list[str]) -> Iterator[tuple[str, bool]]:
    waiting: list[tuple[str, bool]] = []
    for line in lines:
        if found := _TEST.match(line):
            waiting.append((found[2], found[1] == "PASS"))
        elif found := _PACKAGE.match(line):
            package, is_good = found[2], found[1] != "FAIL"
            for name, passed in waiting:
                yield f"{package} {name}", passed
            if not waiting or all(passed for _, passed in waiting) != is_good:
                yield package, is_good
            waiting = []
