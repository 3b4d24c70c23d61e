"""The kinds of agent program, and what the task graph says about each.

This is what `plan` may know of them; how they are started is in `run.adapters`, which has the same names.
"""

from dataclasses import dataclass
from enum import StrEnum


class Wire(StrEnum):
    """The language a program speaks with its model."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    """Chat completions and responses."""
    GEMINI = "gemini"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True)
class AgentKind:
    """The keys that an agent of this kind must have, and those it must not have."""

    needs: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    key_env: str = ""
    """The variable that holds the credential if the graph names none."""
    wire: Wire | None = None
    """The language it speaks with its model; None: none, or the graph says which."""


_OWN = ("run", "wire")
"""Keys that an agent with a known program refuses: Interlock chooses its command line and its wire."""

KINDS: dict[str, AgentKind] = {
    "command": AgentKind(needs=("run",), refuses=("args", "login")),
    "claude-code": AgentKind(refuses=_OWN, key_env="ANTHROPIC_API_KEY", wire=Wire.ANTHROPIC),
    "codex": AgentKind(refuses=_OWN, key_env="OPENAI_API_KEY", wire=Wire.OPENAI),
    "gemini": AgentKind(refuses=_OWN, key_env="GEMINI_API_KEY", wire=Wire.GEMINI),
    "qwen": AgentKind(refuses=_OWN, key_env="OPENAI_API_KEY", wire=Wire.OPENAI),
    "opencode": AgentKind(refuses=_OWN, key_env="OPENAI_API_KEY", wire=Wire.OPENAI),
    "copilot": AgentKind(refuses=_OWN, key_env="OPENAI_API_KEY", wire=Wire.OPENAI),
    "built-in": AgentKind(needs=("url", "model"), refuses=("run", "login"), wire=Wire.OLLAMA),
    "acp": AgentKind(needs=("run",)),
}
"""Kinds by the name in `agents.<name>.use`."""
