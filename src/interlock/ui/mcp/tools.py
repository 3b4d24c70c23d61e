"""A tool: its name, its arguments, and what it does. Small, because a client sends all of it to a model."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import msgspec

from interlock.model.errors import UsageError

INSTALL = "pip install 'interlock[mcp]'"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    description: str
    arguments: type[msgspec.Struct]
    call: Callable[[Any], Awaitable[object]]  # Any: an instance of `arguments`
    reads: bool = False
    """It changes nothing, so clients need not ask before they call it."""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """No arguments."""


def schema(tool: Tool) -> dict[str, object]:
    """The JSON schema of its arguments, without titles and references."""
    _, parts = msgspec.json.schema_components([tool.arguments])
    found = parts[tool.arguments.__name__]
    kept = ("type", "properties", "required", "additionalProperties")
    return {name: value for name, value in found.items() if name in kept and value != []}


def listing(tools: Sequence[Tool]) -> list[dict[str, object]]:
    """The tools as a client gets them."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": schema(tool),
            "annotations": {"readOnlyHint": tool.reads},
        }
        for tool in tools
    ]


def arguments_of(tool: Tool, given: dict[str, object] | None) -> msgspec.Struct:
    try:
        return msgspec.convert(given or {}, tool.arguments)
    except msgspec.ValidationError as error:
        raise UsageError(f"{tool.name}: {error}") from None


def text_of(result: object) -> str:
    return result if isinstance(result, str) else msgspec.json.encode(result, enc_hook=str).decode()


def is_installed() -> bool:
    return find_spec("mcp") is not None
