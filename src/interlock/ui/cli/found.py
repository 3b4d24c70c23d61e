"""The agents that are on this machine: programs that are installed, keys that are set, a local model server.

Of a key only the name of its variable is looked at and ever written.
"""

import json
import shutil
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.error import URLError
from urllib.parse import urlsplit

from interlock.model.kinds import KINDS

OLLAMA = "http://127.0.0.1:11434"
OLLAMA_SECONDS = 1.0
INSTALL = {
    "claude-code": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "qwen": "npm install -g @qwen-code/qwen-code",
    "opencode": "npm install -g opencode-ai",
    "copilot": "npm install -g @github/copilot",
}
"""Commands that install each kind of agent program, best first."""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent that could be used."""

    use: str
    program: str = ""
    """The path of its program; '' if it comes with Interlock."""
    key_env: str = ""
    """The variable its key would be in; '' if it needs none."""
    has_key: bool = True
    url: str = ""
    model: str = ""

    @property
    def lacks(self) -> str:
        """The credential that it lacks; '' if it can work."""
        return "" if self.has_key else f"{self.key_env} is not set"


def find_agents(environ: Mapping[str, str]) -> list[FoundAgent]:
    found = [*_programs(environ), *_ollama(environ)]
    return sorted(found, key=lambda agent: bool(agent.lacks))


def _programs(environ: Mapping[str, str]) -> list[FoundAgent]:
    from interlock.agents import ADAPTERS

    known = [(use, ADAPTERS[use].program) for use in INSTALL if use in ADAPTERS]
    return [
        FoundAgent(use, path, KINDS[use].key_env, bool(environ.get(KINDS[use].key_env)))
        for use, program in known
        if (path := shutil.which(program, path=environ.get("PATH")))
    ]


def _ollama(environ: Mapping[str, str]) -> list[FoundAgent]:
    url = environ.get("OLLAMA_HOST") or OLLAMA
    url = url if "://" in url else f"http://{url}"
    try:
        if urlsplit(url).scheme != "http":
            return []
        with urllib.request.urlopen(f"{url.rstrip('/')}/api/tags", timeout=OLLAMA_SECONDS) as answer:  # noqa: S310 - http, see above
            models = [model["name"] for model in json.load(answer)["models"]]
    except (URLError, OSError, ValueError, KeyError, TypeError):
        return []
    return [FoundAgent("built-in", url=url, model=models[0])] if models else []
