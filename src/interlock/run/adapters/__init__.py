"""The agent programs that Interlock knows: how each is started, and what its output means.

Adapters touch nothing: no disk, no network, no process. A new one is a file here and a line in `ADAPTERS`,
and its name in `model.kinds`.
"""

from interlock.run.adapters.acp import Acp
from interlock.run.adapters.adapter import Adapter
from interlock.run.adapters.builtin import BuiltIn
from interlock.run.adapters.claude_code import ClaudeCode
from interlock.run.adapters.codex import Codex
from interlock.run.adapters.command import Command
from interlock.run.adapters.copilot import Copilot
from interlock.run.adapters.gemini import Gemini
from interlock.run.adapters.opencode import Opencode
from interlock.run.adapters.qwen import Qwen

_ALL: tuple[Adapter, ...] = (
    Command(),
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
"""By the name that `agents.<name>.use` says."""

__all__ = ["ADAPTERS"]
