"""Does a report account for a red check: one session, run to its end, red for nothing but failing tests."""

from pathlib import Path

import pytest

from interlock.model.suite import SuiteResult
from interlock.verify.reports import accounted, read_report

OUTPUTS = Path(__file__).parent / "reports"
PYTEST = (OUTPUTS / "pytest.txt").read_text()
UNITTEST = (OUTPUTS / "unittest.txt").read_text()
MOCHA = (OUTPUTS / "mocha.txt").read_text()
CARGO = (OUTPUTS / "cargo.txt").read_text()
VITEST = (OUTPUTS / "vitest.txt").read_text()
JEST = (OUTPUTS / "jest.txt").read_text()
NPM = """npm error Lifecycle script `test` failed with error:
npm error code 1
npm error path /home/me/state/check/{}/tree
npm error A complete log of this run can be found in: /home/me/.npm/_logs/{}-debug-0.log
"""


def seen(text: str, command: str = "make test") -> SuiteResult:
    suite = read_report(text)
    assert suite is not None
    return accounted(command, text, suite)


@pytest.mark.parametrize("name", sorted(path.stem for path in OUTPUTS.glob("*.txt")))
def test_a_whole_session_of_each_program_accounts_for_itself(name: str) -> None:
    suite = seen((OUTPUTS / f"{name}.txt").read_text())
    assert (suite.flaw, suite.beside) == ("", ())


@pytest.mark.parametrize(
    "text",
    [
        PYTEST.replace(
            "2 failed,", "FAIL Required test coverage of 90% not reached. Total: 50.00%\n2 failed,"
        ),
        PYTEST + "ERROR: Coverage for lines (50%) does not meet global threshold (90%)\n",
        JEST.replace(
            "Test Suites", 'Jest: "global" coverage threshold for lines (90%) not met: 50%\nTest Suites'
        ),
        VITEST.replace("   Start at", "     Errors  1 error\n   Start at"),
        VITEST + "\n⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n",
        UNITTEST.replace("errors=1,", "errors=1, unexpected successes=1,"),
        CARGO.replace("error: 1 target", "error[E0425]: cannot find value `x`\nerror: 1 target"),
        CARGO.replace("error: 1 target", "error: doctest failed, to rerun pass `--doc`\nerror: 1 target"),
        "1..2\nok 1 - a\nnot ok 2 - b\nBail out! no database\n",
        "1..5\nok 1 - a\nnot ok 2 - b\n",
        MOCHA + MOCHA,
        UNITTEST + PYTEST,
        PYTEST.replace("2 failed,", "!!!!!! stopping after 1 failures !!!!!!!\n2 failed,"),
        PYTEST.replace(
            "2 failed,", "!!!!!! xdist.dsession.Interrupted: stopping after 1 failures !!!\n2 failed,"
        ),
        JEST.replace("1 failed, 1 passed, 2 total", "1 failed, 1 of 2 total"),
        CARGO.replace("error: 1 target failed:\n    `--lib`\n", ""),
    ],
)
def test_a_second_reason_a_second_session_and_an_early_stop_are_no_account(text: str) -> None:
    assert not seen(text).names_failures


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("pytest -x", "`-x`"),
        ("python -m pytest -qx tests", "`-qx`"),
        ("pytest --maxfail=2 -q", "`--maxfail=2`"),
        ("pytest --exitfirst", "`--exitfirst`"),
        ("npx mocha --bail", "`--bail`"),
        ("npx mocha -b test", "`-b`"),
        ("npm test -- --bail=1", "`--bail=1`"),
        ("python -m unittest -f", "`-f`"),
        ("go test -failfast ./...", "`-failfast`"),
        ("pytest -q && ruff check", "`pytest -q`"),
        ("npm test && npm run lint", "`npm test`"),
        ("set -e; pytest -q; ruff check", "`pytest -q`"),
    ],
)
def test_a_command_that_stops_early_is_no_account_and_names_why(command: str, named: str) -> None:
    suite = seen(PYTEST, command)
    assert named in suite.flaw and not suite.names_failures


@pytest.mark.parametrize(
    "command",
    [
        *(
            "pytest -q",
            "python -m pytest -q -p xdist -n 2 -rx",
            "sh -x check.sh",
            "make -f Other test",
            "tox -e py",
        ),
        *(
            "cd tests && pytest",
            ". .venv/bin/activate && pytest",
            "npm run lint && npm test",
            "python -m unittest -b",
        ),
    ],
)
def test_an_ordinary_command_is_no_flaw(command: str) -> None:
    assert seen(PYTEST, command).names_failures


@pytest.mark.parametrize(
    "report", [PYTEST, UNITTEST, MOCHA, JEST, VITEST], ids=["py", "ut", "mo", "je", "vi"]
)
def test_what_other_programs_print_before_and_after_the_session_is_kept(report: str) -> None:
    said = seen(f"would reformat a.py\n{report}b.py:3:1: F401 unused\nb.py:9:1: F401 unused\n").beside
    assert said == ("would reformat a.py", "b.py:#:#: F401 unused", "b.py:#:#: F401 unused (2)")


def test_what_npm_and_make_say_of_a_red_command_is_the_same_in_every_run() -> None:
    one = MOCHA + NPM.format("0a1b2c3d4e5f60718293a4b5c6d7e8f9", "2026-11-17T03_49_44_123Z")
    two = MOCHA + NPM.format("99887766554433221100ffeeddccbbaa", "2026-11-18T14_01_02_456Z")
    assert seen(one).beside == seen(two).beside != ()
    assert seen(PYTEST + "make: *** [Makefile:2: test] Error 1\n").beside == (
        "make: *** [Makefile:#: test] Error #",
    )


@pytest.mark.parametrize("script", ["mocha --bail", "mocha && eslint ."])
def test_what_npm_says_that_it_runs_is_looked_at_too(script: str) -> None:
    assert seen(f"\n> shapes@1.0.0 test\n> {script}\n\n{MOCHA}", "npm test").flaw


def test_the_log_of_a_test_may_stand_in_the_line_of_progress() -> None:
    text = f'..........127.0.0.1 - - "GET /get HTTP/1.1" 200 -\n..     [ 80%]\n{PYTEST}'
    assert seen(text).beside == ()
    paths = seen(f"../x.py: not sorted\n./y.py:1:1: F401\n{PYTEST}")
    assert paths.beside == ("../x.py: not sorted", "./y.py:#:#: F401")


def test_a_log_beside_a_report_is_not_compared() -> None:
    log = "".join(f"step{number}a\n" for number in range(600))
    assert "500 lines" in seen(log + PYTEST).flaw
