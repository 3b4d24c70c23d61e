"""Checks on main in words: which could not run or fail there, and the command or the line that mends it."""

from collections.abc import Callable, Iterator

from interlock.events.baselines import known_failures
from interlock.events.state import State
from interlock.learn.flakes import FlakyCheck
from interlock.model.outcome import CheckResult
from interlock.model.suite import Unable
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.words.red_main import broken_text

LAST_LINES = 8
REUSED = "reused: the same files were tested before"

_WHAT: dict[Unable, Callable[[CheckResult], str]] = {
    Unable.PROGRAM: lambda check: f"{_named(check, 'its program')}: command not found",
    Unable.NOT_EXECUTABLE: lambda check: f"{_named(check, 'its program')} is not executable",
    Unable.MODULE: lambda check: f"the sandbox has no module {_named(check, '')}",
    Unable.COLLECTION: lambda check: f"its tests cannot be loaded{_of(check)}",
    Unable.NO_TESTS: lambda _: "it finds no tests",
    Unable.USAGE: lambda check: f"its options are invalid{_of(check)}",
    Unable.PATH: lambda check: f"{_named(check, 'a file it names')} is not on main",
    Unable.SCRIPT: lambda check: f"package.json has no script {_named(check, '')}",
    Unable.TARGET: lambda check: f"make has no target {_named(check, '')}",
    Unable.NETWORK: lambda check: f"it needs the network{_of(check)}, and checks have none",
    Unable.TIMEOUT: lambda check: f"it timed out after {check.seconds:.0f} s",
    Unable.SETUP: lambda check: f"the set-up {_named(check, '')} failed",
    Unable.SERVICE: lambda check: f"its service {check.about} did not start",
    Unable.MACHINE: lambda check: check.about,
}
_MEND: dict[Unable, str] = {
    Unable.PROGRAM: "correct the command, or install the program and name its folder in `toolchains`",
    Unable.NOT_EXECUTABLE: "make it executable (git update-index --chmod=+x FILE) and commit",
    Unable.MODULE: "install the dependencies of the tests, or let `setup:` do it; then `interlock doctor`",
    Unable.COLLECTION: "run the command in your shell, fix what it reports, and commit",
    Unable.NO_TESTS: "name the test folder in the command, or use another check",
    Unable.USAGE: "correct the options of the command",
    Unable.PATH: "correct the path in the command, or commit the file",
    Unable.SCRIPT: "correct the command, or add the script to package.json",
    Unable.TARGET: "correct the command, or add the target to the Makefile",
    Unable.NETWORK: (
        "download it once in your shell (`cargo fetch`, `go mod download`), let `setup:` do it, "
        "or use a check without the network"
    ),
    Unable.SETUP: "run it in your shell, fix what it reports (is the lock file up to date?), and commit",
    Unable.SERVICE: (
        "see the end of its output below. Correct its command below `services`, or add files that it reads "
        "to the `inputs` of the check"
    ),
    Unable.MACHINE: "see `interlock doctor`",
    Unable.TIMEOUT: "raise `check_timeout`, or use a faster check",
}

_NOT_BY_FILES = (Unable.USAGE, Unable.NETWORK, Unable.SETUP, Unable.SERVICE, Unable.MACHINE, Unable.TIMEOUT)


def inability(check: CheckResult) -> str:
    """The reason that it could not run, as half a sentence; empty if it ran."""
    return one_line(inert(_WHAT[check.unable](check))) if check.unable else ""


def mend(check: CheckResult) -> str:
    """The way to make it run; empty if it ran."""
    if check.unable is Unable.SETUP:
        from interlock.verify.unable import needs_network  # `status` must answer fast

        if needs_network(check.tail):
            return "run it once in your shell, or name the hosts that it needs in the setting `setup_hosts`"
    return _MEND[check.unable] + lacking(check) if check.unable else ""


def lacking(check: CheckResult) -> str:
    """The likely cause where a check that sees only its inputs fails; empty if it sees all files."""
    if not check.inputs or check.unable in _NOT_BY_FILES:
        return ""
    seen = one_line(inert(", ".join(check.inputs)))
    return f"; if it passes in your shell, add the file that it lacks to its `inputs` ({seen})"


def main_text(check: CheckResult) -> str:
    if check.unable:
        return f"cannot run on main: {inability(check)}"
    if check.passed:
        tests = f", {counted(check.suite.ran, 'test')}" if check.suite and check.suite.ran else ""
        failed = check.suite.failed_count if check.suite else 0
        return f"passes on main{tests}{f', {failed} of them failed' if failed else ''}"
    if check.suite and check.suite.names_failures:
        return f"fails on main: {counted(check.suite.failed_count, 'known failing test')}"
    if check.suite and check.suite.flaw:
        flaw = one_line(inert(check.suite.flaw))
        return f"fails on main (exit {check.exit_code}), not only in known tests: {flaw}"
    return f"fails on main (exit {check.exit_code}); its output does not name the failing tests"


def red_main_text(state: State) -> str:
    """One line on main as it stands; empty while it is green, or nothing is known."""
    if broken := broken_text(state):
        return broken
    red = known_failures(state).values()
    if unable := [check for check in red if check.unable]:
        return f"main cannot be checked: `{one_line(unable[0].command)}`, {inability(unable[0])}"
    if unread := [check for check in red if not (check.suite and check.suite.names_failures)]:
        return f"main is red: `{one_line(unread[0].command)}` exits {unread[0].exit_code}"
    tests = sum(check.suite.failed_count for check in red if check.suite)
    return f"main is red: {counted(tests, 'known failing test')}" if tests else ""


def obstacle_lines(check: CheckResult, place: str) -> Iterator[str]:
    """The problem of a check on main, the end of its output, and the fix.

    `place` is its line in the graph, or empty.
    """
    yield f"`{one_line(check.command)}` {main_text(check)}"
    for line in last_lines(check):
        yield f"  | {line}"
    help_ = mend(check) or (
        "fix main first, or set `red_main: allow` in the graph's `defaults` to land without this check"
        + lacking(check)
    )
    yield f"fix: {help_}{f' ({place})' if place else ''}"


def last_lines(check: CheckResult) -> list[str]:
    return [inert(line) for line in check.tail.splitlines()[-LAST_LINES:]]


def _named(check: CheckResult, otherwise: str) -> str:
    return f"`{check.about}`" if check.about else otherwise


def _of(check: CheckResult) -> str:
    return f" ({check.about})" if check.about else ""


def flaky_text(check: FlakyCheck) -> str:
    flaked = counted(len(check.flakes), "time")
    return (
        f"`{one_line(inert(check.command))}` failed {flaked} in {counted(check.runs, 'run')} and passed again"
    )
