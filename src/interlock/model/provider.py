"""The provider of an agent's model: the server and the credential that its calls share with others'."""

import re
from dataclasses import dataclass

from interlock.model.kinds import KINDS, Wire
from interlock.model.task import Agent


@dataclass(frozen=True, slots=True)
class Home:
    """The default server and key of a wire."""

    upstream: str
    key_env: str


HOMES = {
    Wire.ANTHROPIC: Home("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    Wire.OPENAI: Home("https://api.openai.com", "OPENAI_API_KEY"),
    Wire.GEMINI: Home("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    Wire.OLLAMA: Home("http://127.0.0.1:11434", ""),
}
ACCOUNT = "login:"
"""The prefix of the name of an account that a program is logged in with; no host has such a port."""
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1", re.ASCII)
_ADDRESS = re.compile(r"(?P<scheme>https?)://(?:[^@/?#]*@)?(?P<netloc>[^/?#]+)", re.IGNORECASE)
_HOST = re.compile(r"(?:\[(?P<bare>[\da-f:.]*)\]|(?P<name>[\w.-]*))(?::\d*)?", re.IGNORECASE | re.ASCII)


def provider_of(agent: Agent) -> str:
    """The provider that an agent's calls go to, through the model proxy or with its own account; '' if there
    is none. All programs of a kind are logged in with the same account: the user's."""
    if agent.login:
        return f"{ACCOUNT}{agent.use}" if KINDS[agent.use].wire else ""
    wire = agent.wire or KINDS[agent.use].wire
    return provider_name(Wire(wire), agent.url, agent.key_env) if wire else ""


def own_server(agent: Agent) -> str:
    """The address of its model, where that is a server of the user's and no known provider's; else ''."""
    wire = agent.wire or KINDS[agent.use].wire
    if agent.login or not wire:
        return ""
    return agent.url or (HOMES[Wire.OLLAMA].upstream if wire == Wire.OLLAMA else "")


def is_local(wire: Wire, url: str) -> bool:
    """Tell if the model runs on this machine, where no call costs anything."""
    _, host = _parts(url or HOMES[wire].upstream)
    return bool(_LOOPBACK.fullmatch(host))


def is_account(provider: str) -> bool:
    """Tell if this is a login account. No proxy sees its calls, so its agents are counted instead."""
    return provider.startswith(ACCOUNT)


def provider_name(wire: Wire, url: str, key_env: str) -> str:
    """Host, port if it has one, and the name (never the value) of the variable with the credential."""
    found = _ADDRESS.match(url or HOMES[wire].upstream)
    netloc = found["netloc"].lower() if found else url
    return f"{netloc} {key_variable(wire, url, key_env)}".strip()


def key_variable(wire: Wire, url: str, key_env: str) -> str:
    """Return the variable that holds the credential. A provider's usual key goes to that provider alone."""
    home = HOMES[wire]
    scheme, host = _parts(url or home.upstream)
    _, own = _parts(home.upstream)
    is_own = scheme == "https" and f".{host}".endswith(f".{own}")
    return key_env or (home.key_env if is_own else "")


def _parts(url: str) -> tuple[str, str]:
    """The scheme and the host, both in lower case; twice '' for what is no address."""
    found = _ADDRESS.match(url)
    host = _HOST.fullmatch(found["netloc"]) if found else None
    if not found or not host:
        return "", ""
    return found["scheme"].lower(), (host["bare"] or host["name"] or "").lower()
