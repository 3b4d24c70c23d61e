"""Tries commands that a repository's files name: none is taken for a check before it was seen to run."""

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass

from interlock.engine.preflight import try_checks
from interlock.engine.project import Project, open_project
from interlock.model.errors import UserError
from interlock.model.outcome import CheckResult
from interlock.model.setup import Setup
from interlock.ui.cli.checktext import inability, last_lines, mend
from interlock.ui.cli.output import Invocation, counted, note

TRY_SECONDS = 300.0
"""A person waits for it."""
MOST = 3
"""Commands that are tried before it is given up."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one command."""

    command: str
    is_usable: bool
    """It is green, or its report tells which tests fail."""
    text: str
    """How it ended, in words."""
    fix: str = ""
    lines: tuple[str, ...] = ()
    """The end of its output, or of the set-up's, where it could not run."""


async def try_command(project: Project, command: str, seconds: float = TRY_SECONDS) -> Tried:
    """Run a command on main, in the sandbox, as the first run would."""
    (result,) = await try_checks(project, [command], seconds)
    return in_words(result)


def in_words(check: CheckResult) -> Tried:
    """Whether a command can be a check, by how it ended."""
    took = f"in {check.seconds:.1f} s"
    if check.passed:
        return Tried(check.command, True, f"passed {took}")
    if check.unable:
        return Tried(check.command, False, inability(check), mend(check), tuple(last_lines(check)))
    if check.suite and check.suite.failed:
        failing = f"{check.suite.failed_count} of {counted(check.suite.ran, 'test')}"
        return Tried(check.command, True, f"{failing} fail on main, and are known from now on")
    why = f"it fails on main (exit {check.exit_code}), and its report names no tests"
    return Tried(check.command, False, why, "run it in your shell, and mend main")


async def try_found(
    invocation: Invocation, commands: Iterable[str], setup: Setup | None = None
) -> list[Tried]:
    """One command after the other, best first, until one is usable. The last one says how far it came.

    What `setup` makes, and the checkout lacks, is there for them.
    """
    tried: list[Tried] = []
    try:
        async with open_project(invocation.project, invocation.settings) as project, aclosing(project):
            project.setups.spec = setup
            for command, _ in zip(commands, range(MOST), strict=False):
                if not invocation.wants_json():
                    note(f"trying `{command}` on {project.place.branch}, in the sandbox")
                tried.append(await try_command(project, command))
                if tried[-1].is_usable:
                    break
    except UserError as error:
        tried.append(Tried(next(iter(commands), ""), False, str(error).splitlines()[0], error.hint))
    return tried
