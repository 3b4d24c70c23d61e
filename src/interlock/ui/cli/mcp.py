"""`interlock mcp`: tools for a person's editor or agent, on standard input and output."""

import os

import click

from interlock.engine.project import open_project
from interlock.model.errors import EnvironmentProblem
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note
from interlock.ui.cli.session import AgentsMayNot, opened, read
from interlock.ui.mcp.people import INSTRUCTIONS, Access, ToolScope, people_tools
from interlock.ui.mcp.tools import INSTALL, is_installed
from interlock.ui.opening import actor


@cli_command("mcp")
@click.option(
    "--scope",
    type=click.Choice([each.value for each in ToolScope]),
    default=ToolScope.ACT.value,
    show_default=True,
    help="Only look; also run, stop, add and retry; or also decide what waits for you.",
)
async def mcp_command(invocation: Invocation, scope: str) -> None:
    """Serve tools over MCP on standard input and output, for your editor or your own agent.

    They act in your name. With `--scope decide` your client can answer, accept, approve and reject: let it
    ask you each time. For example: interlock mcp --project ~/src/shop
    """
    if os.environ.get("INTERLOCK_TASK_ID"):
        raise AgentsMayNot("an agent of a run must not act for a person")
    if not is_installed():
        raise EnvironmentProblem("the library `mcp` is not installed", INSTALL)
    from interlock.ui.mcp.server import serve_stdio

    access = Access(
        invocation.project.absolute(),
        lambda: opened(invocation),
        lambda: open_project(invocation.project, invocation.settings, note),
        read,
        actor(),
    )
    await serve_stdio(people_tools(access, ToolScope(scope)), INSTRUCTIONS)
