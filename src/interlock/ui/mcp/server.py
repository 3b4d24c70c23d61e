"""Serves tools by the official library. Importing this takes 0.7 s: only when a client is there."""

from collections.abc import Sequence

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as ProtocolTool
from pydantic import TypeAdapter

from interlock import __version__
from interlock.model.errors import UserError
from interlock.ui.mcp.tools import Tool, arguments_of, listing, text_of

Context = ServerRequestContext[dict[str, object]]


def make_server(tools: Sequence[Tool], instructions: str) -> Server[dict[str, object]]:
    known = {tool.name: tool for tool in tools}
    told = TypeAdapter(list[ProtocolTool]).validate_python(listing(tools))

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=told)

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        if (tool := known.get(params.name)) is None:
            return _result(f"there is no tool {params.name}", is_error=True)
        try:
            return _result(text_of(await tool.call(arguments_of(tool, params.arguments))))
        except UserError as error:
            return _result(f"{error}{f' (hint: {error.hint})' if error.hint else ''}", is_error=True)

    return Server(
        "interlock",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


async def serve_stdio(tools: Sequence[Tool], instructions: str) -> None:
    """Serve one client on standard input and output, until it closes them."""
    server = make_server(tools, instructions)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
