"""Requests that make the provider's server contact others: a way for data out of the sandbox.

1. A tool that the provider runs itself (a web search, a remote MCP server) is only declared in a request, and
   some programs declare one in each. It is taken out, and the call goes on without it.
2. A call that is about nothing else, because no tool is left or because it demands one of these, is refused.
   An answer without the search would look like the result of one. So is one that hides such a tool deeper.
3. An address is fetched before the model reads the request. It is refused in each field but those of texts.
4. Of tools, those pass that are known to run at the program's side or without a network.
5. Values that the provider does not read, such as the input of a tool call or a schema, may hold any address.
   They are known by their place in the request: a program chooses many of the names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.shown import shown
from interlock.proxy.json_values import text_at
from interlock.proxy.routes import Dialect

_NAME_CHARACTERS = 80
_START_CHARACTERS = 64
_DECLARED = frozenset({"mcpservers", "websearchoptions", "searchparameters", "plugins", "enablesearch"})
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
_GEMINI_TOOLS = frozenset({"functiondeclarations", "codeexecution", "computeruse"})
_CALLS = ("messages toolcalls function arguments", "messages toolcalls custom input")
_NOT_READ = {
    dialect: frozenset(tuple(place.split()) for place in ("metadata", *places))
    for dialect, places in {
        Dialect.MESSAGES: ("messages content input", "outputformat schema", "outputconfig format schema"),
        Dialect.RESPONSES: (
            *("input action", "input actions", "input operation", "input arguments"),
            *("text format schema", "clientmetadata"),
        ),
        Dialect.CHAT: (
            *(*_CALLS, "messages functioncall arguments"),
            *("responseformat jsonschema schema", "responseformat schema"),
        ),
        Dialect.OLLAMA: (*_CALLS, "format"),
        Dialect.GEMINI: (
            *("contents parts functioncall args", "contents parts functionresponse response"),
            *("generationconfig responseschema", "generationconfig responsejsonschema"),
        ),
    }.items()
}
"""Places of values that only the program reads, and of schemas."""
_SCHEMAS = frozenset(
    {
        *("parameters", "inputschema", "inputexamples", "outputschema"),
        *("parametersjsonschema", "response", "responsejsonschema"),
    }
)
"""Fields of the program's own tools that hold schemas."""
_TEXTS = frozenset(
    {
        *("text", "content", "system", "instructions", "prompt", "suffix", "input", "output", "arguments"),
        *("thinking", "reasoning", "reasoningcontent", "refusal", "stdout", "stderr"),
        *("title", "description", "context"),
    }
)
"""Fields whose strings the model reads as they are."""
_ADDRESS = re.compile(
    r"[\s\x00-\x20\ufeff]*+(?:https?:|(?:[a-z0-9+.-][\t\r\n]*+){2,64}+:[\t\r\n]*+[/\\])", re.IGNORECASE
)
"""The start of an address. Those who read one leave out blanks before it, and tabs and line ends inside."""

_Place = tuple[str, ...]
"""The names of the fields that lead to a value, in plain letters. Lists add none."""


class Fetches(Exception):
    """The request is about what the provider's server would contact others for."""


@dataclass(frozen=True, slots=True)
class ScreenedRequest:
    """A request that makes the provider's server contact no address of the program's choice."""

    value: dict[str, object]
    removed: tuple[str, ...] = ()
    """The tools and fields that were taken out."""


def screened(dialect: Dialect, value: dict[str, object]) -> ScreenedRequest:
    """The request without what would contact others; raises `Fetches`. Its depth must be bounded."""
    removed = [name for name, item in value.items() if _declares(_plain(name), item)]
    kept = {name: item for name, item in value.items() if name not in removed}
    for name in [name for name in kept if _plain(name) == "tools"]:
        kept[name] = tools = _tools(dialect, kept[name], removed)
        if (value[name] and not tools) or _demands(value, removed):
            raise _run_by_the_provider(removed)
    for place, item in _read(dialect, kept):
        if isinstance(item, str) and _is_address(place[-1], item):
            raise Fetches(f"a message that the provider would fetch {shown(item)} for")
        if len(place) > 1:
            _check_deeper(dialect, place[-1], item)
    return ScreenedRequest(kept, tuple(removed))


def _check_deeper(dialect: Dialect, name: str, item: object) -> None:
    """Refuse what is taken out of the request itself, but has no business further inside."""
    hidden = [shown(name, _NAME_CHARACTERS)] if _declares(name, item) else []
    if name == "tools":
        _tools(dialect, item, hidden)
    if hidden:
        raise _run_by_the_provider(hidden)


def _run_by_the_provider(names: list[str]) -> Fetches:
    return Fetches(f"{', '.join(names)}, which the provider runs itself")


def _plain(name: str) -> str:
    """The name without its spelling: some servers read `imageUrl`, `image_url` and `Image_URL` alike."""
    return name.replace("_", "").lower()


def _declares(name: str, item: object) -> bool:
    return name in _DECLARED and item is not None and item is not False


def _tools(dialect: Dialect, tools: object, removed: list[str]) -> object:
    """The tools that pass; the names of the others are added to `removed`. A single tool needs no list."""
    if tools is None:
        return None
    kept: list[object] = []
    for tool in tools if isinstance(tools, list) else [tools]:
        if not isinstance(tool, dict):
            removed.append(shown(f"tools: {tool}", _NAME_CHARACTERS))
        elif dialect == Dialect.GEMINI:
            passing = {name: item for name, item in tool.items() if _plain(name) in _GEMINI_TOOLS}
            removed += [shown(name, _NAME_CHARACTERS) for name in tool if name not in passing]
            kept += [passing] if passing or not tool else []
        elif not _is_local(dialect, tool):
            removed.append(shown(str(tool.get("type")), _NAME_CHARACTERS))
        else:
            inner = {name: item for name, item in tool.items() if _plain(name) == "tools"}
            kept.append({**tool, **{name: _tools(dialect, item, removed) for name, item in inner.items()}})
    return kept


def _demands(value: dict[str, object], removed: list[str]) -> bool:
    """Tell if the model must use a tool that was taken out. Anthropic's have a date after their name."""
    named = [text_at(value, "tool_choice", key) for key in ("name", "type")]
    return any(name and (kind == name or kind.startswith(f"{name}_")) for name in named for kind in removed)


def _is_local(dialect: Dialect, tool: dict[str, object]) -> bool:
    kind = tool.get("type", "custom" if dialect == Dialect.MESSAGES else "function")
    if kind == "shell" and text_at(tool, "environment", "type") not in ("", "local"):
        return False  # in a container of the provider's, which may have a network
    return isinstance(kind, str) and _TOOLS[dialect].fullmatch(kind) is not None


def _read(dialect: Dialect, request: dict[str, object]) -> Iterator[tuple[_Place, object]]:
    """The values in a request that the provider reads, with their places. Lists are told item by item too."""
    left: list[tuple[_Place, object]] = [((), request)]
    while left:
        place, node = left.pop()
        if place:
            yield place, node
        if isinstance(node, list):
            left += [(place, item) for item in node]
        elif isinstance(node, dict):
            text = node.get("data") if node.get("type") == "text" else None  # a document without markup
            inner = [((*place, _plain(name)), item) for name, item in node.items()]
            left += [
                (at, item)
                for at, item in inner
                if not _is_unread(dialect, at) and not (isinstance(text, str) and at[-1] == "data")
            ]


def _is_unread(dialect: Dialect, place: _Place) -> bool:
    is_of_a_tool = place[-1] in _SCHEMAS and ("tools" in place or place[0] == "functions")
    return is_of_a_tool or place in _NOT_READ[dialect]


def _is_address(name: str, said: str) -> bool:
    """Tell if the provider would fetch this value of the field."""
    if name.endswith(("url", "uri")):
        return said != "" and not said[:_START_CHARACTERS].lstrip().lower().startswith("data:")
    return name not in _TEXTS and _ADDRESS.match(said) is not None
