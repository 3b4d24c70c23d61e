"""ctest, as it prints by default: the lines of the tests and one that sums up."""

import re

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

_SUMMARY = re.compile(
    r"^\d+% tests passed, \d+ tests? failed out of \d+$|^No tests were found!!!$", re.MULTILINE
)
_TEST = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.*(?: +Passed|(.*)\*\*\*(\S+))", re.MULTILINE)
_DID_NOT_RUN = ("Skipped", "Disabled")


def read_ctest(text: str) -> SuiteResult | None:
    """Tests by name; None if ctest did not sum up. One whose program is missing has failed."""
    if not _SUMMARY.search(text):
        return None
    return suite_of(
        (name, not verdict)
        for name, _, verdict in _TEST.findall(text)
        if not verdict.startswith(_DID_NOT_RUN)
    )
