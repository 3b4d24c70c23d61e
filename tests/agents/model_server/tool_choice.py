"""Turns one operation of a script into a call of whichever tool the client declares for it.

1. A tool is found by name first; its arguments are filled by the meaning of the names in its schema.
2. Without a fitting tool the operation goes through the client's shell.
3. Required arguments that mean nothing to the script get the plainest value their type allows.
"""

import base64
import json
import shlex
from collections.abc import Callable
from pathlib import PurePosixPath

from tests.agents.model_server.conversation import Conversation, Json, Tool

Arguments = Json | str
Chosen = tuple[str, Arguments]

SHELLS = (
    "Bash", "run_shell_command", "bash", "exec_command", "shell_command", "shell", "local_shell",
    "execute_command", "terminal",
)  # fmt: skip
WRITERS = ("Write", "write_file", "write", "create", "create_file")
EDITORS = ("Edit", "replace", "edit", "str_replace", "edit_file")
READERS = ("Read", "read_file", "read", "view")

MEANINGS: dict[str, tuple[str, ...]] = {
    "path": ("file_path", "filePath", "path", "absolute_path", "filename", "file", "target_file"),
    "content": ("content", "file_text", "contents", "text"),
    "old": ("old_string", "oldString", "old_str", "old", "search"),
    "new": ("new_string", "newString", "new_str", "new", "replace", "replacement"),
    "command": ("command", "cmd", "script"),
}


def choose(op: Json, conversation: Conversation) -> Chosen | None:
    """The tool call for `op`, or None when the client has no tool that could do it."""
    if op["op"] == "call":
        return op["tool"], op.get("arguments", {})
    if op["op"] == "ours":
        found = (tool.name for tool in conversation.tools if tool.name.endswith(op["tool"]))
        return next(found, f"mcp__interlock__{op['tool']}"), op["arguments"]
    by_operation: dict[str, Callable[[Json, Conversation], Chosen | None]] = {
        "write": _write,
        "edit": _edit,
        "read": _read,
        "shell": _shell,
    }
    return by_operation[op["op"]](_with_full_path(op, conversation), conversation)


def _with_full_path(op: Json, conversation: Conversation) -> Json:
    folder = conversation.working_folder
    if "path" not in op or folder is None:
        return op
    return {**op, "full_path": str(PurePosixPath(folder) / op["path"])}


def _write(op: Json, conversation: Conversation) -> Chosen | None:
    tool = _find(conversation, WRITERS, ("path", "content"))
    if tool:
        return tool.name, _fill(tool, path=op.get("full_path", op["path"]), content=op["content"])
    added = [f"+{line}" for line in op["content"].splitlines()]
    patch = "\n".join(["*** Begin Patch", f"*** Add File: {op['path']}", *added, "*** End Patch", ""])
    encoded = base64.b64encode(op["content"].encode()).decode()
    place = shlex.quote(op["path"])
    plain = f'mkdir -p "$(dirname {place})" && echo {encoded} | base64 -d > {place}'
    return _apply_patch(patch, conversation) or _shell({"command": plain}, conversation)


def _edit(op: Json, conversation: Conversation) -> Chosen | None:
    tool = _find(conversation, EDITORS, ("path", "old", "new"))
    if tool:
        place = op.get("full_path", op["path"])
        return tool.name, _fill(tool, path=place, old=op["old"], new=op["new"])
    program = (
        "import sys,pathlib as p;a,o,n=sys.argv[1:];f=p.Path(a);f.write_text(f.read_text().replace(o,n,1))"
    )
    return _shell(
        {"command": shlex.join(["python3", "-c", program, op["path"], op["old"], op["new"]])}, conversation
    )


def _read(op: Json, conversation: Conversation) -> Chosen | None:
    tool = _find(conversation, READERS, ("path",))
    if tool:
        return tool.name, _fill(tool, path=op.get("full_path", op["path"]))
    return _shell({"command": shlex.join(["cat", op["path"]])}, conversation)


def _shell(op: Json, conversation: Conversation) -> Chosen | None:
    tool = _find(conversation, SHELLS, ("command",))
    if tool is None:
        return None
    command = op["command"]
    if tool.properties[_named(tool, "command") or ""].get("type") == "array":
        command = ["bash", "-lc", command]
    return tool.name, _fill(tool, command=command)


def _apply_patch(patch: str, conversation: Conversation) -> Chosen | None:
    tool = next((t for t in conversation.tools if t.name == "apply_patch"), None)
    if tool is None:
        return None
    if tool.freeform:
        return tool.name, patch
    name = next((n for n in ("input", "patch", "patchText") if n in tool.properties), "input")
    return tool.name, {**_fill(tool), name: patch}


def _find(conversation: Conversation, names: tuple[str, ...], meanings: tuple[str, ...]) -> Tool | None:
    """The first tool of that name that can take all those arguments."""
    declared = {tool.name: tool for tool in conversation.tools if not tool.freeform}
    fitting = (declared[name] for name in names if name in declared)
    return next((tool for tool in fitting if all(_named(tool, meaning) for meaning in meanings)), None)


def _named(tool: Tool, meaning: str) -> str | None:
    return next((name for name in MEANINGS[meaning] if name in tool.properties), None)


def _fill(tool: Tool, **values: object) -> Json:
    given = {_named(tool, meaning): value for meaning, value in values.items()}
    arguments: Json = {name: value for name, value in given.items() if name is not None}
    for name in tool.required:
        arguments.setdefault(name, _plainest(tool.properties.get(name, {})))
    return arguments


def _plainest(schema: Json) -> object:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    plain: Json = {"boolean": False, "array": [], "object": {}}
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return plain.get(kind, "scripted step")


def as_json_text(arguments: Arguments) -> str:
    """Arguments as the protocols that carry them inside a string want them."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
