"""The tool behind the last lines of `.ci/run`: sizes and times."""

from pathlib import Path

import pytest

from scripts import budget

REPORT = """<testsuites><testsuite time="61.4">
<testcase classname="tests.a" name="test_short" time="0.1" />
<testcase classname="tests.a" name="test_long[x]" time="3.26" />
</testsuite></testsuites>"""


def test_a_run_is_told_with_its_slowest_tests_first() -> None:
    assert [line.split() for line in budget.times(REPORT)] == [
        ["61", "seconds", "of", "make", "test"],
        ["3.3", "tests.a::test_long[x]"],
        ["0.1", "tests.a::test_short"],
    ]


def test_sizes_are_counted_and_a_run_that_wrote_no_report_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.xml").touch()
    assert budget.main([str(tmp_path / "report.xml")]) == 0
    told = {
        words[1]: words[0] for line in capsys.readouterr().out.splitlines() if (words := line.split())[1:]
    }
    assert told.keys() == {"lines", "modules", "kinds", "settings", "commands", "glossary"}
    assert all(int(number.replace(",", "")) > 10 for number in told.values())
