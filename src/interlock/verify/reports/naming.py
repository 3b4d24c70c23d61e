"""Names of tests, so that the same test has the same name in every run."""

import re
from collections import Counter
from collections.abc import Iterable

from interlock.model.suite import SuiteResult

_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
"""The address of an object in a test's name differs from run to run."""


LINE_CHARS = 1_000
"""The most characters of a report's line that are read. Patterns look at a line again and again, and programs
print lines of any length: without a limit, reading one line would take hours."""


def plain(text: str) -> str:
    """Output without colours and addresses, with one kind of line end."""
    return _ADDRESS.sub("0x", _COLOURS.sub("", text)).replace("\r\n", "\n")


def short_lines(text: str) -> str:
    return "\n".join(line[:LINE_CHARS] for line in text.split("\n"))


def suite_of(
    tests: Iterable[tuple[str, bool]], passed_count: int | None = None, failed_count: int | None = None
) -> SuiteResult:
    """A result from (name, passed) in the order of the report; a name that comes again is numbered.

    The counts are what the report's own last line says, where it has one.
    """
    seen: Counter[str] = Counter()
    found: dict[str, bool] = {}
    for name, passed in tests:
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = passed
    passed_names = tuple(name for name, passed in found.items() if passed)
    failed_names = tuple(name for name, passed in found.items() if not passed)
    return SuiteResult(
        passed_names,
        failed_names,
        len(passed_names) if passed_count is None else passed_count,
        len(failed_names) if failed_count is None else max(failed_count, len(failed_names)),
    )
