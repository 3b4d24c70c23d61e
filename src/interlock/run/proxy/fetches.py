"""Requests that make the provider's server contact others: a way for data out of the sandbox.

1. A tool that the provider runs itself (a web search, a remote MCP server) is only declared in a request, and
   some programs declare one in each. It is taken out, and the call goes on without it.
2. A call that is about nothing else, because no tool is left or because it demands one of these, is refused.
   An answer without the search would look like the result of one.
3. An address in a message is fetched before the model reads it. Such a request is refused.
4. Of tools, those pass that are known to run at the program's side or without a network.
5. Values that the provider does not read, such as the input of a tool call, may hold any address.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.shown import shown
from interlock.run.proxy.dig import text_at
from interlock.run.proxy.wires import Dialect

_NAME_CHARACTERS = 80
_START_CHARACTERS = 64
_DECLARED = ("mcp_servers", "web_search_options", "search_parameters", "plugins", "enable_search")
"""Fields of a request, besides its tools, that turn a search or a remote server on."""
_TOOLS = {
    Dialect.MESSAGES: re.compile(
        r"custom|(?:bash|text_editor|computer|memory|code_execution|tool_search_tool\w*)_\d+", re.ASCII
    ),
    Dialect.RESPONSES: re.compile(
        r"function|custom|namespace|shell|local_shell|apply_patch|computer|computer_use_preview|tool_search|"
        r"image_generation",
        re.ASCII,
    ),
    Dialect.CHAT: re.compile(r"function|custom", re.ASCII),
    Dialect.OLLAMA: re.compile(r"function", re.ASCII),
}
_GEMINI_TOOLS = frozenset(
    (
        *("functiondeclarations", "function_declarations", "codeexecution", "code_execution"),
        *("computeruse", "computer_use"),
    )
)
_ADDRESSES = ("image_url", "file_url", "video_url", "audio_url", "document_url")
_FILES = ("file_data", "fileData")
_NOT_READ = frozenset({"args", "arguments", "response"})
_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.ASCII | re.IGNORECASE)


class Fetches(Exception):
    """The request is about what the provider's server would contact others for."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A request that makes the provider's server contact no address of the program's choice."""

    value: dict[str, object]
    removed: tuple[str, ...] = ()
    """The tools and fields that were taken out."""


def screened(dialect: Dialect, value: dict[str, object]) -> Screened:
    """The request without what would contact others; raises `Fetches`. Its depth must be bounded."""
    removed = [name for name in _DECLARED if value.get(name)]
    kept = {name: item for name, item in value.items() if name not in removed}
    for item in _objects({name: item for name, item in kept.items() if name != "tools"}):
        if address := _address(item):
            raise Fetches(f"a message that the provider would fetch {shown(address)} for")
    tools = value.get("tools")
    if isinstance(tools, list):
        kept["tools"] = _tools(dialect, tools, removed)
        if (tools and not kept["tools"]) or _demands(value, removed):
            raise Fetches(f"{', '.join(removed)}, which the provider runs itself")
    return Screened(kept, tuple(removed))


def _tools(dialect: Dialect, tools: list[object], removed: list[str]) -> list[object]:
    """The tools that pass; the names of the others are added to `removed`."""
    kept: list[object] = []
    for tool in tools:
        passing = tool
        if isinstance(tool, dict) and dialect == Dialect.GEMINI:
            passing = {name: item for name, item in tool.items() if name.lower() in _GEMINI_TOOLS}
            removed += [shown(str(name), _NAME_CHARACTERS) for name in tool if name not in passing]
        elif isinstance(tool, dict) and not _is_local(dialect, tool):
            passing = None
            removed.append(shown(str(tool.get("type")), _NAME_CHARACTERS))
        elif isinstance(tool, dict) and isinstance(tool.get("tools"), list):
            passing = {**tool, "tools": _tools(dialect, tool["tools"], removed)}
        if passing or passing == tool:
            kept.append(passing)
    return kept


def _demands(value: dict[str, object], removed: list[str]) -> bool:
    """Must the model use a tool that was taken out. Anthropic's tools have a date after their name."""
    named = [text_at(value, "tool_choice", key) for key in ("name", "type")]
    return any(name and (kind == name or kind.startswith(f"{name}_")) for name in named for kind in removed)


def _is_local(dialect: Dialect, tool: dict[str, object]) -> bool:
    kind = tool.get("type", "custom" if dialect == Dialect.MESSAGES else "function")
    if kind == "shell" and text_at(tool, "environment", "type") not in ("", "local"):
        return False  # in a container of the provider's, which may have a network
    return isinstance(kind, str) and _TOOLS[dialect].fullmatch(kind) is not None


def _objects(value: object) -> Iterator[dict[str, object]]:
    """The objects in a request that the provider reads."""
    left = [value]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            yield node
            calls = text_at(node, "type").endswith("tool_use")
            left += [
                item
                for name, item in node.items()
                if name not in _NOT_READ and not (calls and name == "input")
            ]


def _address(item: dict[str, object]) -> str:
    """Return the address that the provider would fetch for this part of a message; '' for none."""
    if item.get("type") == "url" and text_at(item, "url"):
        return text_at(item, "url")
    for name in _ADDRESSES:
        said = text_at(item, name) or text_at(item, name, "url")
        if said and not said[:_START_CHARACTERS].lstrip().lower().startswith("data:"):
            return said
    for name in _FILES:
        if said := text_at(item, name, "file_uri") or text_at(item, name, "fileUri"):
            return said
        if _SCHEME.match(text_at(item, name)):
            return text_at(item, name)
    return ""
