"""Tries commands that a repository's files name: none is taken for a check before it was seen to run."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from interlock.engine.preflight import try_checks
from interlock.engine.project import open_project
from interlock.model.errors import UserError
from interlock.model.outcome import CheckResult
from interlock.model.setup import Setup
from interlock.model.suite import Unable
from interlock.ui.cli.output import Invocation, note
from interlock.ui.plain import counted
from interlock.ui.words.checks import inability, last_lines, main_text, mend

TRY_SECONDS = 300.0
"""A person waits for it."""
MOST = 4
"""Commands that are tried."""
PATIENCE_SECONDS = 60.0
"""Time for trying other commands when one is usable: another may run more tests."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of trying one command."""

    command: str
    is_usable: bool
    """True if it is green, or its report names the failing tests."""
    text: str
    """Its result in words."""
    fix: str = ""
    lines: tuple[str, ...] = ()
    """The end of its output, or of the set-up's, where it could not run."""
    tests: int = 0
    """The number of tests that passed, as far as its output names or counts them."""


def in_words(check: CheckResult) -> Tried:
    """Judge by its result if a command can be a check."""
    took = f"in {check.seconds:.1f} s"
    tests = check.suite.passed_count if check.suite else 0
    if check.passed:
        ran = counted(tests, "test") if tests else "its output names no tests"
        return Tried(check.command, True, f"passed {took}, {ran}", tests=tests)
    if check.unable:
        return Tried(check.command, False, inability(check), mend(check), tuple(last_lines(check)))
    if check.suite and check.suite.names_failures:
        failing = f"{check.suite.failed_count} of {counted(check.suite.ran, 'test')}"
        return Tried(
            check.command, True, f"{failing} fail on main; changes are judged by the others", tests=tests
        )
    lines = tuple(last_lines(check))
    return Tried(check.command, False, f"it {main_text(check)}", "run it in your shell, and fix main", lines)


def best(tried: Sequence[Tried]) -> Tried | None:
    """The usable command in which the most tests pass; of equals the first."""
    return max((one for one in tried if one.is_usable), key=lambda one: one.tests, default=None)


async def try_found(
    invocation: Invocation, commands: Sequence[str], setup: Setup | None = None
) -> list[Tried]:
    """One command after the other, until there is one whose tests are counted and time is up.

    What `setup` makes, and the checkout lacks, is there for them.
    """
    tried: list[Tried] = []
    clock = asyncio.get_running_loop().time
    ends = clock() + PATIENCE_SECONDS
    try:
        async with open_project(invocation.project, invocation.settings) as project, aclosing(project):
            project.setups.spec = setup
            for command in _different(commands):
                found = best(tried)
                if len(tried) == MOST or (found and found.tests and clock() > ends):
                    break
                if not invocation.wants_json():
                    note(f"trying `{command}` on {project.place.branch}, in the sandbox")
                (result,) = await try_checks(project, [command], TRY_SECONDS)
                tried.append(in_words(result))
                if result.unable is Unable.SETUP:
                    break  # it would fail for every other command too
    except UserError as error:
        tried.append(Tried(next(iter(commands), ""), False, str(error).splitlines()[0], error.hint))
    return tried


def _different(commands: Sequence[str]) -> Iterator[str]:
    """Drop commands that are the end of an earlier one, such as the test without the build before it."""
    for number, command in enumerate(commands):
        if not any(earlier.endswith(f" && {command}") for earlier in commands[:number]):
            yield command
