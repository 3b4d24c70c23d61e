"""Whom an agent's model is had from: what its calls share with those of other agents."""

from urllib.parse import urlsplit

from interlock.model.kinds import Wire
from interlock.model.task import Agent

HOSTS = {
    Wire.ANTHROPIC: ("api.anthropic.com", "ANTHROPIC_API_KEY"),
    Wire.OPENAI: ("api.openai.com", "OPENAI_API_KEY"),
    Wire.GEMINI: ("generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    Wire.OLLAMA: ("127.0.0.1:11434", ""),
}
"""Where a wire leads if nobody says otherwise, and the variable of the credential for it."""
WIRES = {
    "claude-code": Wire.ANTHROPIC,
    "codex": Wire.OPENAI,
    "copilot": Wire.OPENAI,
    "gemini": Wire.GEMINI,
    "opencode": Wire.OPENAI,
    "qwen": Wire.OPENAI,
    "built-in": Wire.OLLAMA,
}
"""What the known programs speak; the others say so in the graph."""


def provider_of(agent: Agent) -> str:
    """The server and the credential's variable, as one name; '' if its calls do not go through the proxy."""
    wire = agent.wire or WIRES.get(agent.use)
    if not wire or agent.login:
        return ""
    host, key_env = HOSTS[Wire(wire)]
    if not agent.url:
        return provider_name(host, agent.key_env or key_env)
    return provider_name(urlsplit(agent.url).netloc, agent.key_env)


def provider_name(host: str, key_env: str) -> str:
    """One name for a server (host, and port if it has one) and the variable that holds its credential."""
    return f"{host} {key_env}".strip()
