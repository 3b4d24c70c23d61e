"""A report in files beside the one in the output of the same command. Pure.

Rules:
1. The output counts where it names the tests: the files may be those of another program, or of a test.
2. Where they disagree on a test, it failed. Where they disagree on the number of failures, the larger counts.
3. Where the output only counts what passed, files with the same numbers name it.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

from interlock.model.suite import SuiteResult
from interlock.verify.reports.junit import Tests, joined


@dataclass(frozen=True, slots=True)
class Filed:
    """The JUnit files that a command wrote."""

    documents: tuple[Tests, ...] = ()
    flaw: str = ""
    """The reason why reports are missing; empty: all are there."""

    @property
    def suite(self) -> SuiteResult | None:
        """All of them together; None if there are none."""
        found = joined(list(self.documents))
        return replace(found or SuiteResult(), flaw=self.flaw) if found or self.flaw else None

    @property
    def words(self) -> frozenset[str]:
        """The classes and names of the tests."""
        return frozenset(word for each in self.documents for word in each.words)


def combined(output: SuiteResult | None, filed: SuiteResult | None) -> SuiteResult | None:
    """The report of a command that printed one, wrote one, or both."""
    if output is None or filed is None or filed.flaw:
        return output or filed
    if output.passed or not output.passed_count:
        return _without_denied(output, filed)
    if (output.passed_count, output.failed_count) == (filed.passed_count, filed.failed_count):
        return filed
    return replace(output, failed_count=max(output.failed_count, filed.failed_count))


def _without_denied(output: SuiteResult, filed: SuiteResult) -> SuiteResult:
    """Rule 2. Several tests may have one title: as many as the output itself names failed are agreed on."""
    denied = Counter(map(_title, filed.failed)) - Counter(map(_title, output.failed))
    if not denied:
        return output
    failed = [name for name in output.passed if _take(denied, _title(name))]
    gone = set(failed)
    return replace(
        output,
        passed=tuple(name for name in output.passed if name not in gone),
        failed=(*output.failed, *failed),
        passed_count=output.passed_count - len(failed),
        failed_count=output.failed_count + len(failed),
    )


def _take(left: Counter[str], title: str) -> bool:
    found = left[title] > 0
    left[title] -= found
    return found


def _title(name: str) -> str:
    """The last word of a test's name: programs differ in how they write its file and its groups."""
    return re.split(r"::| > |\s", name.strip())[-1]
