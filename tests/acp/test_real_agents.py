"""Real programs over the Agent Client Protocol, against the scripted model server.

They are started as a person would name them in `run`, and find the model in their own variables.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from interlock.agents.adapter import Dialogue, LaunchContext
from interlock.model.outcome import ErrorClass
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent
from scripts.agent_programs import PROGRAMS, cache_folder, command, install
from tests.acp.bench import Talk, seated, talk
from tests.agents.model_server import RunningModel, running_model
from tests.agents.programs import CHOSEN_BY, chosen

pytestmark = [pytest.mark.agents, pytest.mark.slow]

WORDS = {
    "gemini": ("--acp", "--skip-trust", "--model", "gemini-2.5-pro"),
    "opencode": ("acp",),
    "qwen": ("--acp", "--auth-type", "openai"),
    "copilot": ("--acp",),
}
NAMES = sorted(WORDS)
PROMPT = "Do the scripted work."


def _opencode(url: str) -> dict[str, str]:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 128000, "output": 8000}}
    options = {"baseURL": f"{url}/v1", "apiKey": "dummy"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
    config = {
        "provider": {"scripted": provider},
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "permission": {"edit": "ask", "bash": "ask"},
        "autoupdate": False,
        "share": "disabled",
    }
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in off},
    }


ENVIRONMENT: dict[str, Callable[[str], dict[str, str]]] = {
    "gemini": lambda url: {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    "opencode": _opencode,
    "qwen": lambda url: {
        "OPENAI_API_KEY": "dummy",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
    },
    "copilot": lambda url: {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    },
}


@pytest.fixture(scope="module")
def model() -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


def sit_down(name: str, place: Path, permissions: str = "allow", resume: str = "") -> LaunchContext:
    if name not in chosen():
        pytest.skip(f"{name} is not among {CHOSEN_BY}")
    install(PROGRAMS[name], cache_folder(), lambda _line: None)
    agent = Agent(name, "acp", (*command(name), *WORDS[name]), permissions=permissions)
    context = seated(place, agent, PROMPT, resume)
    subprocess.run(["git", "init", "-q", context.workspace], check=True)
    return context


class Answering:
    """A person at the keyboard, who says the same to everything."""

    def __init__(self, allow: bool) -> None:
        self._allow = allow

    def __call__(self, event: Event, dialogue: Dialogue) -> Sequence[Event]:
        if event.kind is EventKind.ASKED and not event.ok:
            return dialogue.answer(event.call, self._allow)
        return ()


def work(name: str, context: LaunchContext, url: str, react: Answering | None = None) -> Talk:
    env = ENVIRONMENT[name](url)
    return talk(context, react, env) if react else talk(context, env=env)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_agent_works_and_every_call_is_understood(
    name: str, tmp_path: Path, model: RunningModel
) -> None:
    done = work(name, sit_down(name, tmp_path), model.url("basic", f"{name}-works"))
    assert (tmp_path / "workspace/hello.txt").read_text() == "hello from the script\n"
    assert (tmp_path / "workspace/ran.txt").read_text() == "ran\n"
    assert done.verdict.error is None
    assert done.texts(EventKind.MESSAGE)[-1] == "All done."
    assert [event.path for event in done.of(EventKind.EDIT)] == ["hello.txt"]
    assert done.texts(EventKind.COMMAND) == ["echo ran > ran.txt && echo command-output"]
    assert len(done.of(EventKind.RESULT)) == 2
    assert done.of(EventKind.ASKED)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_agent_that_may_not_does_not(name: str, tmp_path: Path, model: RunningModel) -> None:
    context = sit_down(name, tmp_path, permissions="ask")
    done = work(name, context, model.url("basic", f"{name}-denied"), Answering(allow=False))
    assert done.of(EventKind.DENIED)
    assert not (tmp_path / "workspace/ran.txt").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_is_not_accepted_is_an_error_of_its_own(
    name: str, tmp_path: Path, model: RunningModel
) -> None:
    done = work(name, sit_down(name, tmp_path), model.url("f401", f"{name}-401"))
    assert done.verdict.error is ErrorClass.AUTH


@pytest.mark.parametrize("name", NAMES)
def test_a_real_agent_goes_on_or_begins_anew(name: str, tmp_path: Path, model: RunningModel) -> None:
    first = work(name, sit_down(name, tmp_path), model.url("basic", f"{name}-first"))
    again = sit_down(name, tmp_path, resume=first.verdict.session)
    done = work(name, again, model.url("say", f"{name}-again"))
    assert done.verdict.error is None
    assert done.texts(EventKind.MESSAGE) == ["All done."]
