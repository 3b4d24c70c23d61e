"""Readers of test reports: from the output of a test program to the tests that passed and failed.

Pure: each takes text and returns a `SuiteResult`, or None where the text holds no report of its kind. A
reader wants to see the line in which its program sums up, so that other output is not taken for a report.
"""

from collections.abc import Callable
from functools import reduce

from interlock.model.suite import SuiteResult
from interlock.verify.reports.compiled import read_automake, read_cargo, read_ctest, read_go, read_meson
from interlock.verify.reports.filed import Filed, combined
from interlock.verify.reports.javascript import (
    read_ava,
    read_jest,
    read_mocha,
    read_node,
    read_tap,
    read_vitest,
)
from interlock.verify.reports.junit import read_junit
from interlock.verify.reports.naming import plain, short_lines
from interlock.verify.reports.python import read_pytest, read_unittest
from interlock.verify.reports.session import accounted
from interlock.verify.reports.totals import read_totals

__all__ = ["Filed", "accounted", "combined", "read_report", "read_totals"]

READERS: tuple[Callable[[str], SuiteResult | None], ...] = (
    *(read_pytest, read_unittest, read_tap, read_node, read_mocha, read_vitest),
    *(read_jest, read_ava, read_go, read_cargo, read_ctest, read_meson, read_automake, read_junit),
)


def read_report(text: str) -> SuiteResult | None:
    """All reports in the output of one command, taken together."""
    whole = plain(text)
    lines = short_lines(whole)
    # A document of XML is often one line.
    found = [suite for reader in READERS if (suite := reader(whole if reader is read_junit else lines))]
    return reduce(_together, found) if found else None


def _together(one: SuiteResult, other: SuiteResult) -> SuiteResult:
    return SuiteResult(
        one.passed + other.passed,
        one.failed + other.failed,
        one.passed_count + other.passed_count,
        one.failed_count + other.failed_count,
    )
