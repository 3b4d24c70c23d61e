"""A check that could not run is told from one that found something. The texts are what the programs print."""

from pathlib import Path

import pytest

from interlock.model.suite import SuiteResult, Unable
from interlock.verify.reports import read_report
from interlock.verify.unable import unable

OUTPUTS = Path(__file__).parent / "reports"
COLLECTING = """
ImportError while importing test module '/repo/test_two.py'.
E   ModuleNotFoundError: No module named 'flask'
=========================== short test summary info ============================
ERROR test_two.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.91s
"""
TAP = "1..2\nok 1 - a\nnot ok 2 - b\n"
MAKE_127 = "make: *** [Makefile:2: test] Error 127\n"


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        (127, "/bin/sh: 1: pytset: not found\n", (Unable.PROGRAM, "pytset")),
        (127, "bash: line 1: pytset: command not found\n", (Unable.PROGRAM, "pytset")),
        (127, "env: ‘pytset’: No such file or directory\n", (Unable.PROGRAM, "pytset")),  # noqa: RUF001 - as env prints it
        (
            2,
            "make: pytset: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n",
            (Unable.PROGRAM, "pytset"),
        ),
        (1, "sh: 1: vitest: not found\n", (Unable.PROGRAM, "vitest")),
        (2, f"{TAP}/bin/sh: 1: valgrind: not found\n{MAKE_127}", (Unable.PROGRAM, "valgrind")),
        (2, f"{TAP}make[1]: lint: No such file or directory\n{MAKE_127}", (Unable.PROGRAM, "lint")),
        (2, f"{TAP}{MAKE_127}", (Unable.PROGRAM, "")),
        (127, f"{TAP}sh: 1: eslint: not found\n", (Unable.PROGRAM, "eslint")),
        (1, f"{TAP}sh: 1: eslint: not found\nnpm error code 127\n", (Unable.PROGRAM, "eslint")),
        (
            1,
            f"{TAP}sh: 1: tsc: not found\n\u2009ELIFECYCLE\u2009 Command failed with exit code 127.\n",
            (Unable.PROGRAM, "tsc"),
        ),
        (2, f"sh: 1: ./run: Permission denied\n{MAKE_127}", (Unable.NOT_EXECUTABLE, "./run")),
        (126, "/bin/sh: 1: ./check: Permission denied\n", (Unable.NOT_EXECUTABLE, "./check")),
        (1, "/usr/bin/python: No module named pytest\n", (Unable.MODULE, "pytest")),
        (2, COLLECTING, (Unable.MODULE, "flask")),
        (
            2,
            "E   SyntaxError: invalid\n!!!! Interrupted: 2 errors during collection !!!!\n2 errors in 0.9s\n",
            (Unable.COLLECTION, ""),
        ),
        (
            4,
            "ERROR: file or directory not found: tests/x.py\n\nno tests ran in 0.9s\n",
            (Unable.PATH, "tests/x.py"),
        ),
        (
            4,
            "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --nosuch\n",
            (Unable.USAGE, "unrecognized arguments: --nosuch"),
        ),
        (3, "INTERNALERROR> Traceback\n", (Unable.COLLECTION, "INTERNALERROR")),
        (5, "\n9 deselected in 0.68s\n", (Unable.NO_TESTS, "")),
        (5, "no tests ran in 0.01s\n", (Unable.NO_TESTS, "")),
        (1, "No tests found, exiting with code 1\n", (Unable.NO_TESTS, "")),
        (1, "Error: Cannot find module './lib/app'\n", (Unable.MODULE, "./lib/app")),
        (1, 'npm ERR! Missing script: "tets"\n', (Unable.SCRIPT, "tets")),
        (2, "make: *** No rule to make target 'chekc'.  Stop.\n", (Unable.TARGET, "chekc")),
        (1, "npm ERR! code EAI_AGAIN\n", (Unable.NETWORK, "")),
        (1, "getaddrinfo ENOTFOUND example.org\n", (Unable.NETWORK, "example.org")),
        (1, "curl: (6) Could not resolve host: example.org\n", (Unable.NETWORK, "example.org")),
        (
            101,
            "error: no matching package named `no-panic` found\n"
            "As a reminder, you're using offline mode (--offline) which can cause surprising failures.\n",
            (Unable.NETWORK, ""),
        ),
        (1, "socket.gaierror: [Errno -3] Temporary failure in name resolution\n", (Unable.NETWORK, "")),
        (101, "error: could not compile `demo` (lib test)\n", (Unable.COLLECTION, "demo")),
        (1, "FAIL\texample.org/m [build failed]\n", (Unable.COLLECTION, "example.org/m")),
    ],
)
def test_what_keeps_a_check_from_running_is_named(code: int, text: str, found: tuple[Unable, str]) -> None:
    assert unable(code, False, text, read_report(text)) == found


def test_a_check_that_was_stopped_could_not_run() -> None:
    assert unable(124, True, "1 passed in 0.1s\n", SuiteResult((), (), 1, 0)) == (Unable.TIMEOUT, "")


def test_a_test_may_print_what_a_shell_prints() -> None:
    """Tests ran, and the command did not end because of that line."""
    text = f"{TAP}sh: 1: nosuch: not found\nthe program ended with exit code 127\n"
    assert unable(1, False, text, read_report(text)) is None


def test_green_is_never_unable() -> None:
    assert unable(0, False, "sh: 1: colour: not found\n", None) is None


@pytest.mark.parametrize("name", [path.stem for path in sorted(OUTPUTS.glob("*.txt"))])
def test_suites_with_failures_have_run(name: str) -> None:
    text = (OUTPUTS / f"{name}.txt").read_text()
    assert unable(1, False, text, read_report(text)) is None


@pytest.mark.parametrize(
    "text", ["ModuleNotFoundError: No module named 'x'\n", "ENOTFOUND\n", "sh: 1: x: not found\n"]
)
def test_what_one_failing_test_prints_says_nothing_about_the_suite(text: str) -> None:
    assert unable(1, False, f"{text}1 failed, 30 passed in 0.1s\n", SuiteResult((), ("a",), 30, 1)) is None


def test_any_other_red_exit_is_a_finding() -> None:
    assert unable(1, False, "src/a.py:1: error: wrong type\n", None) is None
    assert unable(127, False, "", None) == (Unable.PROGRAM, "")
