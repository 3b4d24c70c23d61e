"""The eight real programs as a person has them: on the PATH, and named in a task graph."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from interlock.agents import ADAPTERS
from scripts.agent_programs import PROGRAMS, command

CHOSEN_BY = "INTERLOCK_TEST_PROGRAMS"
"""A variable with the names of those to drive, with commas; empty: all of them."""
KEY_ENV = "SCRIPTED_MODEL_KEY"
"""The variable of the person's environment that holds the credential of the model."""

_AIDER = """\
exec aider --message-file "$INTERLOCK_PROMPT_FILE" --model openai/scripted \
--openai-api-base "$OPENAI_API_BASE" --yes-always --no-auto-commits --no-check-update --no-analytics \
--no-show-model-warnings --no-pretty --no-stream --no-gitignore
"""
_MINI = """\
exec mini -t "$(cat "$INTERLOCK_PROMPT_FILE")" -m openai/scripted -y --exit-immediately \
-o "$HOME/trajectory.json" -c mini.yaml -c agent.step_limit=20
"""
_OF_OUR_CHOICE = {
    "aider": {"run": ["sh", "-c", _AIDER], "env": {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}},
    "mini-swe-agent": {
        "run": ["sh", "-c", _MINI],
        "env": {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "3",
        },
    },
}
"""Those that have no adapter: how a person starts them."""
_SERVED_WITH_VERSION = ("codex", "qwen", "opencode", "copilot", "aider", "mini-swe-agent")
"""Their language is OpenAI's, whose base URLs end with the version."""
_SAVES = {
    "claude-code": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/*.jsonl",
    "copilot": ".copilot/session-state/*/events.jsonl",
}
"""Where those that can go on with a session keep it, below their home; copilot only after a second or two."""


@dataclass(frozen=True, slots=True)
class Driven:
    """One of the programs."""

    name: str

    @property
    def use(self) -> str:
        return "command" if self.name in _OF_OUR_CHOICE else self.name

    @property
    def has_tools(self) -> bool:
        """Aider has none: it reads edits out of the text."""
        return self.name != "aider"

    @property
    def tells(self) -> bool:
        """Does Interlock understand what it prints."""
        return self.use != "command"

    @property
    def can_resume(self) -> bool:
        return ADAPTERS[self.use].can_resume

    def has_saved(self, home: Path) -> bool:
        """Is there what a session needs to go on; True for those that never do."""
        return not self.can_resume or any(home.glob(_SAVES[self.name]))

    def agent(self, url: str) -> Mapping[str, object]:
        """What stands in the task graph below `agents`."""
        versioned = f"{url}/v1" if self.name in _SERVED_WITH_VERSION else url
        wire = {"wire": "openai"} if not self.tells else {}
        own: Mapping[str, object] = _OF_OUR_CHOICE.get(self.name, {})
        return {"use": self.use, "url": versioned, "key_env": KEY_ENV, **wire, **own}

    def path(self, folder: Path) -> str:
        """The PATH of a person who has installed it. `folder` is where links to it can be made."""
        return f"{self._on_path(folder)}:{os.environ['PATH']}"

    def _on_path(self, folder: Path) -> Path:
        program = Path(command(self.name)[-1])
        if not PROGRAMS[self.name].is_from_npm:
            return program.parent
        modules = next(parent for parent in program.parents if parent.name == "node_modules")
        if self.name in ("claude-code", "codex"):
            # Their packages put the native program in place with an install script, which was not run.
            folder.mkdir(exist_ok=True)
            (folder / ADAPTERS[self.use].program).symlink_to(program)
            return folder
        return modules / ".bin"


TOOLED = ("claude-code", "codex", "gemini", "opencode")
"""Those that are given Interlock's own tools."""
DRIVEN = {name: Driven(name) for name in PROGRAMS}


def chosen() -> tuple[str, ...]:
    """The programs that are to be driven."""
    named = os.environ.get(CHOSEN_BY, "")
    return tuple(name.strip() for name in named.split(",") if name.strip()) or tuple(DRIVEN)


def script(*ops: Mapping[str, object]) -> str:
    """A goal's own script for the scripted model."""
    return f"<<<SCRIPT {json.dumps(ops)} >>>"
