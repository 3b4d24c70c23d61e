"""The agent programs that Interlock knows: how each is started, and what its output means.

Adapters touch nothing: no disk, no network, no process. A new one is a file here and a line in `ADAPTERS`,
and its name in `model.kinds`.
"""

from interlock.agents.acp.program import Acp
from interlock.agents.adapter import Adapter
from interlock.agents.builtin import BuiltIn
from interlock.agents.claude_code import ClaudeCode
from interlock.agents.codex import Codex
from interlock.agents.command import CommandAdapter
from interlock.agents.copilot import Copilot
from interlock.agents.gemini import Gemini
from interlock.agents.opencode import Opencode
from interlock.agents.qwen import Qwen

_ALL: tuple[Adapter, ...] = (
    CommandAdapter(),
    ClaudeCode(),
    Codex(),
    Gemini(),
    Qwen(),
    Opencode(),
    Copilot(),
    BuiltIn(),
    Acp(),
)

ADAPTERS: dict[str, Adapter] = {adapter.use: adapter for adapter in _ALL}
"""Adapters by the name in `agents.<name>.use`."""
RESUMABLE = frozenset(adapter.use for adapter in _ALL if adapter.can_resume)
"""Those whose programs can go on with an earlier session."""

__all__ = ["ADAPTERS", "RESUMABLE"]
