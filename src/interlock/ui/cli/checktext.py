"""A check that could not run, in words: what happened, and the command or the line that mends it."""

from collections.abc import Callable

from interlock.model.outcome import CheckResult
from interlock.model.suite import Unable
from interlock.ui.cli.output import inert

LAST_LINES = 8

_WHAT: dict[Unable, Callable[[CheckResult], str]] = {
    Unable.PROGRAM: lambda check: f"{_named(check, 'its program')}: command not found",
    Unable.NOT_EXECUTABLE: lambda check: f"{_named(check, 'its program')} is not executable",
    Unable.MODULE: lambda check: f"the module {_named(check, '')} is not there in the sandbox",
    Unable.COLLECTION: lambda check: f"its tests cannot be loaded{_of(check)}",
    Unable.NO_TESTS: lambda _: "it finds no tests",
    Unable.USAGE: lambda check: f"it refuses its options{_of(check)}",
    Unable.PATH: lambda check: f"{_named(check, 'a file it names')} is not on main",
    Unable.SCRIPT: lambda check: f"package.json has no script {_named(check, '')}",
    Unable.TARGET: lambda check: f"make has no target {_named(check, '')}",
    Unable.NETWORK: lambda check: f"it needs the network{_of(check)}, and checks have none",
    Unable.TIMEOUT: lambda check: f"it did not end within {check.seconds:.0f} s",
}
_MEND: dict[Unable, str] = {
    Unable.PROGRAM: "correct the command, or install the program and name its folder in `toolchains`",
    Unable.NOT_EXECUTABLE: "make it executable (git update-index --chmod=+x FILE), and commit that",
    Unable.MODULE: "install what the tests need, or let `setup:` do it; then `interlock doctor`",
    Unable.COLLECTION: "run the command in your shell and correct what it names, then commit that",
    Unable.NO_TESTS: "name the folder with the tests in the command, or check with something else",
    Unable.USAGE: "correct the options of the command",
    Unable.PATH: "correct the path in the command, or commit the file",
    Unable.SCRIPT: "correct the command, or add the script to package.json",
    Unable.TARGET: "correct the command, or add the target to the Makefile",
    Unable.NETWORK: "let `setup:` fetch what is missing before agents start, or check without the network",
    Unable.TIMEOUT: "give it more time with `check_timeout`, or check with something faster",
}


def inability(check: CheckResult) -> str:
    """Why it could not run, as half a sentence; empty if it ran."""
    return inert(_WHAT[check.unable](check)) if check.unable else ""


def mend(check: CheckResult) -> str:
    """What makes it run; empty if it ran."""
    return _MEND[check.unable] if check.unable else ""


def last_lines(check: CheckResult) -> list[str]:
    """The end of its output, for people."""
    return [inert(line) for line in check.tail.splitlines()[-LAST_LINES:]]


def _named(check: CheckResult, otherwise: str) -> str:
    return f"`{check.about}`" if check.about else otherwise


def _of(check: CheckResult) -> str:
    return f" ({check.about})" if check.about else ""
