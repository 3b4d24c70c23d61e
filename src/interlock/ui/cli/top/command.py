"""The command `interlock top`."""

import os
import sys
from importlib.util import find_spec

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, stdout_color
from interlock.ui.cli.session import opened, person

INSTALL = "pip install 'interlock[top]'"


@cli_command("top")
async def top_command(invocation: Invocation) -> int:
    """Show the inbox, the running tasks and all others in the whole terminal, and decide with one key.

    Enter opens a task with its attempts, diff, log and causes. For example: interlock top
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or invocation.json:
        raise UsageError("top needs a terminal", "interlock status --json, or interlock inbox --json")
    if find_spec("textual") is None:
        raise EnvironmentProblem("the library `textual` is not installed", INSTALL)
    if not stdout_color():
        os.environ["NO_COLOR"] = "1"  # Textual looks for it when it is imported
    from interlock.ui.cli.top.desk import Desk
    from interlock.ui.cli.top.program import Top

    async with opened(invocation, create=True) as project:
        program = Top(await Desk.load(project, person))
        await program.run_async()
    return ExitCode.INTERNAL if program.return_code else ExitCode.OK
