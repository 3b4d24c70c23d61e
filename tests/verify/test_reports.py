"""Reports of real test programs: they wrote the output in `reports/`, on suites with one known failure."""

from pathlib import Path

import pytest

from interlock.model.suite import SuiteResult
from interlock.verify.reports import accounted, combined, read_report, read_totals
from interlock.verify.reports.junit import BrokenReport, read_document

OUTPUTS = Path(__file__).parent / "reports"


def read(name: str) -> SuiteResult:
    suite = read_report((OUTPUTS / f"{name}.txt").read_text())
    assert suite is not None
    return suite


@pytest.mark.parametrize(
    ("name", "passed", "failed"),
    [
        ("ava", {"one › adds two", "two › adds two", "two › holds"}, {"one › fails on main"}),  # noqa: RUF001 - as ava prints it
        (
            "cargo",
            {"src/lib.rs tests::adds_two", "tests/outside.rs adds_two", "doc demo src/lib.rs - add"},
            {"src/lib.rs tests::fails_on_main"},
        ),
        ("ctest", {"adds_two", "words/joins"}, {"fails_on_main", "crashes", "not_built"}),
        ("meson", {"demo:adds two", "words - demo:joins"}, {"demo:fails on main", "demo:crashes"}),
        ("go", {"example.org/m/sub"}, {"example.org/m TestFailsOnMain"}),
        ("mocha", {"add > adds two", "add > strings > joins"}, {"add > fails on main"}),
        ("node_tap", {"adds two", "strings > joins"}, {"fails on main"}),
        ("node_spec", {"adds two", "strings > joins"}, {"fails on main"}),
        ("unittest", {"test_a (ut.T.test_a)"}, {"test_b (ut.T.test_b)", "test_d (ut.T.test_d)"}),
    ],
)
def test_a_report_names_what_passed_and_what_failed(name: str, passed: set[str], failed: set[str]) -> None:
    suite = read(name)
    assert (set(suite.passed), set(suite.failed)) == (passed, failed)
    assert (suite.passed_count, suite.failed_count) == (len(passed), len(failed))


@pytest.mark.parametrize("name", ["pytest", "junit"])
def test_errors_count_as_failures_and_parameters_may_hold_a_dash(name: str) -> None:
    suite = read(name)
    assert {test.replace(" ", "::").rpartition("::")[2] for test in suite.passed} >= {"test_adds", "test_m"}
    assert any(test.endswith("test_table[a - b]") for test in suite.failed)
    assert any(test.endswith("test_error") for test in suite.failed)
    assert (suite.passed_count, suite.failed_count) == (4, 3)


def test_a_test_of_unittest_with_a_docstring_is_named() -> None:
    each = "test_a (m.T.test_a)\nSays what it does. ... ok\ntest_b (m.T.test_b) ... ok\n"
    text = f"{each}\nRan 2 tests in 0.001s\n\nOK\n"
    assert read_report(text) == SuiteResult(("test_a (m.T.test_a)", "test_b (m.T.test_b)"), (), 2, 0)


def test_make_check_of_automake_names_its_tests() -> None:
    text = "PASS: tests/a\nFAIL: tests/b\nXFAIL: tests/c\nSKIP: tests/d\n# TOTAL: 4\n# PASS:  1\n"
    assert read_report(text) == SuiteResult(("tests/a", "tests/c"), ("tests/b",), 2, 1)


def test_ctest_that_finds_no_test_reports_none() -> None:
    assert read_report("Test project /x\nNo tests were found!!!\n") == SuiteResult()


def test_jest_counts_what_passed_and_names_what_failed() -> None:
    failure = "./one.test.js > add > fails on main"
    assert read("jest") == SuiteResult((), (failure,), 3, 1)
    assert read("jest_single") == SuiteResult((), (failure,), 1, 1)


def test_vitest_counts_what_passed_and_names_what_failed_through_its_colours() -> None:
    assert read("vitest") == SuiteResult((), ("one.test.mjs > add > fails on main",), 3, 1)


def test_a_suite_of_node_that_vitest_runs_is_no_test() -> None:
    """node:test prints TAP without a plan there."""
    node = "TAP version 13\n# Subtest: a\nok 1 - a\n  ---\n  type: 'suite'\n  ...\n"
    assert read_report(f"{node} Test Files  1 passed (1)\n      Tests  3 passed (3)\n") == SuiteResult(
        (), (), 3, 0
    )
    assert read_report(f"{node}ok 2 - b\n1..2\n") == SuiteResult(("b",), (), 1, 0)


def test_jest_and_vitest_name_what_passed_where_they_are_told_to() -> None:
    titles = ("add > adds two", "top", "other > deep > adds two", "other > each 1", "other > each 2")
    for name, one, two in (
        ("jest_verbose", "./one.test.js", "./two.test.js"),
        ("vitest_verbose", "one.test.mjs", "two.test.mjs"),
    ):
        suite = read(name)
        assert set(suite.passed) == {f"{one if at < 2 else two} > {title}" for at, title in enumerate(titles)}
        assert (suite.failed, suite.names_passes) == ((f"{one} > add > fails on main",), True)


def test_ava_counts_only_when_everything_passed() -> None:
    assert (read("ava_green").passed_count, read("ava_green").failed) == (4, ())


def test_verbose_and_json_output_of_go_name_the_same_tests() -> None:
    words, events = read("go_v"), read("go_json")
    assert set(words.passed) == set(events.passed) and words.failed == events.failed
    assert "example.org/m TestTable/two" in words.passed


def test_a_summary_of_node_that_names_only_failures_counts_nothing_as_passed() -> None:
    assert read_report("\u2716 adds two (1.5ms)\n\u2139 fail 1\n") == SuiteResult((), ("adds two",), 0, 1)


def test_what_a_test_prints_is_not_taken_for_its_result() -> None:
    text = (OUTPUTS / "pytest.txt").read_text()
    assert "made::up" not in str(read_report("PASSED made::up\n" + text))


def test_a_test_that_passes_and_fails_while_it_is_taken_down_has_failed() -> None:
    text = "= short test summary info =\nPASSED t.py::a\nERROR t.py::a - x\n1 passed, 1 error in 0.1s\n"
    assert read_report(text) == SuiteResult((), ("t.py::a",), 1, 1)


def test_two_reports_of_one_command_are_added_up() -> None:
    both = (OUTPUTS / "pytest.txt").read_text() + (OUTPUTS / "mocha.txt").read_text()
    suite = read_report(both)
    assert suite and (suite.passed_count, suite.failed_count) == (6, 4)


def test_addresses_in_names_do_not_tell_two_runs_apart() -> None:
    text = "= short test summary info =\nFAILED t.py::a[<X at 0x7f{}>] - x\n1 failed in 0.1s\n"
    assert read_report(text.format("00aa11bb22")) == read_report(text.format("33cc44dd55"))


@pytest.mark.parametrize("text", ["", "all fine\n", "error: 3 problems\n", "1 passed\n", "ok then\n"])
def test_other_output_is_no_report(text: str) -> None:
    assert read_report(text) is None


def test_a_run_without_tests_is_a_report_of_none() -> None:
    assert read_report("\nno tests ran in 0.01s\n") == SuiteResult()
    assert read_report("Ran 0 tests in 0.000s\n\nOK\n") == SuiteResult()


@pytest.mark.parametrize(
    "piece", ["\n", "\n \n", "<testsuite>", '{"Action":', "FAILED a[ - ", "9", "Coverage "]
)
def test_output_that_is_made_to_be_read_slowly_is_read_all_the_same(piece: str) -> None:
    """Each took hours or raised an error; now the time grows with the length of the output."""
    text = f"=== short test summary info ===\n{piece * 50_000}\n= 1 failed in 1.0s =\n"
    assert read_report(text) is not None
    accounted("make", text, SuiteResult())


JUNIT = '<testsuite tests="2" failures="{}"><testcase classname="c" name="a"/>{}</testsuite>'
FAILED = '<testcase classname="c" name="b"><failure/></testcase>'


def test_a_failure_that_a_suite_counts_and_no_test_shows_is_a_failure_without_a_name() -> None:
    assert read_report(JUNIT.format(1, FAILED)) == SuiteResult(("c a",), ("c b",), 1, 1)
    untold = read_report(JUNIT.format(2, FAILED))
    assert untold and untold.failed_count == 2 and not untold.names_failures


def test_a_test_that_googletest_or_ctest_did_not_run_has_not_passed() -> None:
    idle = '<testcase name="b" status="notrun"/><testcase name="d" classname="d" status="run"/>'
    assert read_report(JUNIT.format(0, idle)) == SuiteResult(("c a", "d"), (), 2, 0)


@pytest.mark.parametrize(
    "inside", ['<!DOCTYPE x [<!ENTITY a "aaaa">]>', '<!DOCTYPE x SYSTEM "file:///etc/passwd">']
)
def test_a_document_that_declares_entities_is_refused(inside: str) -> None:
    document = f'<?xml version="1.0"?>{inside}<testsuite><testcase name="a"/></testsuite>'
    with pytest.raises(BrokenReport):
        read_document(document.encode())


def test_a_deep_document_is_read_without_recursion() -> None:
    deep = "<testsuite>" * 50_000
    with pytest.raises(BrokenReport):
        read_document(deep.encode())
    whole = deep + '<testcase name="a"/>' + "</testsuite>" * 50_000
    assert read_document(whole.encode()).results == [("a", True)]


def test_where_output_and_files_disagree_on_a_test_it_failed() -> None:
    output = SuiteResult(("x.py::a", "y.py::a", "x.py::c"), ("x.py::b",), 3, 1)
    agreed = SuiteResult(("x a", "y a", "x c"), ("x b",), 3, 1)
    assert combined(output, agreed) == output
    denied = SuiteResult((), ("x b", "x c"), 2, 2)
    assert combined(output, denied) == SuiteResult(("x.py::a", "y.py::a"), ("x.py::b", "x.py::c"), 2, 2)


def test_files_name_what_the_output_only_counts() -> None:
    counted, named = SuiteResult((), ("b",), 1, 1), SuiteResult(("c a",), ("c b",), 1, 1)
    assert combined(counted, named) == named
    more = SuiteResult((), ("c a", "c b"), 0, 2)
    assert not (found := combined(counted, more)) or not found.names_failures


def test_without_a_known_session_only_lines_that_name_a_test_are_left_out() -> None:
    output = "1/2 Test #1: a ...... Passed  0.01 sec\nRunning c.Case\nlint: unused name\n"
    suite = accounted("make", output, SuiteResult(("a",), ("b",), 1, 1), frozenset({"a", "c.Case"}))
    assert suite.beside == ("lint: unused name",)


@pytest.mark.parametrize(
    ("text", "passed", "failed"),
    [
        ("test 1 - OK\nTests failed: 1\nTests passed: 299\n", 299, 1),
        ("done\n  3 tests passed, 1 test failed.\n", 3, 1),
        ("2 tests failed\n", 0, 2),
        ("Tests passed: 2\n...\nTests passed: 3\nTests failed: 0\n", 5, 0),
    ],
)
def test_lines_with_nothing_but_totals_are_added_up(text: str, passed: int, failed: int) -> None:
    assert read_totals(text) == SuiteResult((), (), passed, failed)
    assert read_report(text) is None


@pytest.mark.parametrize(
    "text",
    ["Tests failed: 0\n", "Tests failed: 1 (expected)\n", "see why 2 tests failed\n", "10% tests failed\n"],
)
def test_lines_that_are_no_plain_totals_are_not_counted(text: str) -> None:
    assert read_totals(text) is None
