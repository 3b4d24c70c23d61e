"""Asks the user's hooks before a tool is used, and before the session ends.

The questions have the form that Claude Code gives them, so that the same hooks serve both. A hook that cannot
be asked stops nothing.
"""

import json
import re
import socket

from .dialects import Call

BEFORE_TOOL, STOP = "PreToolUse", "Stop"
STOPS_MOST = 3
"""Times that an end is asked about: a hook that never agrees must not cost all turns."""


class HookClient:
    """The way to the hooks: a forwarded port, and the tools they are about."""

    def __init__(self, port: int, moments: str, tools: str) -> None:
        self._port = port
        self._moments = moments.split(",")
        self._tools = tools
        self._stops = 0

    def objection(self, call: Call) -> str:
        """Return the reason that this call must not be carried out, or ''."""
        name, given = _as_told(call)
        is_meant = not self._tools or re.fullmatch(self._tools, name)
        if BEFORE_TOOL not in self._moments or not is_meant:
            return ""
        return self._ask(BEFORE_TOOL, tool_name=name, tool_input=given, tool_use_id=call.id)

    def stop(self, last_message: str) -> str:
        """Return the reason that the session must not end yet, or ''."""
        if STOP not in self._moments or self._stops >= STOPS_MOST:
            return ""
        active = self._stops > 0
        self._stops += 1
        return self._ask(STOP, stop_hook_active=active, last_assistant_message=last_message)

    def _ask(self, moment: str, **told: object) -> str:
        question = json.dumps({"hook_event_name": moment, **told}).encode()
        try:
            with socket.create_connection(("127.0.0.1", self._port)) as line:
                line.sendall(question + b"\n")
                answer = json.loads(line.makefile("rb").readline())
        except (OSError, ValueError):
            return ""
        return str(answer.get("reason") or "a hook objects") if answer.get("blocks") else ""


def _as_told(call: Call) -> tuple[str, dict[str, object]]:
    """A call under the names that hooks know."""
    given = call.arguments
    if call.name == "edit":
        swap = {"old_string": given.get("old", ""), "new_string": given.get("new", "")}
        return "Edit", {"file_path": given.get("path", ""), **swap}
    if call.name == "bash":
        return "Bash", {"command": given.get("command", "")}
    return call.name, dict(given)
