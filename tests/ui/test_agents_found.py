"""`init` and `doctor` find the agents that are here, and never a secret (D11)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.agents import ADAPTERS
from interlock.ui.cli.found import INSTALL, find_agents
from tests.agents.model_server.running import RunningModel, running_model
from tests.ui.conftest import Lab, git

KEY = "sk-very-secret"
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no agent and no key: this folder comes first on its PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    system = [path for path in os.environ["PATH"].split(":") if not _has_agent(Path(path))]
    monkeypatch.setenv("PATH", ":".join([str(folder), *system]))
    monkeypatch.setenv("OLLAMA_HOST", NOWHERE)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def _has_agent(folder: Path) -> bool:
    return any((folder / ADAPTERS[use].program).exists() for use in INSTALL if use in ADAPTERS)


def install(folder: Path, name: str, does: str = "echo 1.2.3") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{does}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as server:
        yield server


def graph_of(lab: Lab) -> str:
    return (lab.root / "task-graph.yaml").read_text()


def test_an_installed_program_with_its_key_is_taken_and_the_key_stays_where_it_is(
    lab: Lab, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, "qwen")
    install(programs, "gemini")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    result = lab.run("init")
    assert "    use: qwen\n" in graph_of(lab)
    assert "# also here: gemini (GEMINI_API_KEY is not set)" in graph_of(lab)
    assert "tasks go to qwen" in result.err
    assert KEY not in graph_of(lab) + result.out + result.err
    assert lab.run("plan").code == 0


def test_a_local_model_comes_before_a_program_without_a_key(
    lab: Lab, programs: Path, model: RunningModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A7."""
    install(programs, "gemini")
    monkeypatch.setenv("OLLAMA_HOST", model.url())
    result = lab.run("init", "--json")
    assert [agent["use"] for agent in result.json["agents"]] == ["built-in", "gemini"]
    assert "    use: built-in\n" in graph_of(lab)
    assert f"    url: {model.url()}\n" in graph_of(lab)
    assert lab.run("plan").code == 0


def test_a_program_without_its_key_is_taken_and_what_is_missing_is_said(lab: Lab, programs: Path) -> None:
    install(programs, "gemini")
    result = lab.run("init")
    assert "    use: gemini\n" in graph_of(lab)
    assert "tasks go to gemini: set GEMINI_API_KEY, or say `login: true`" in result.err


def test_without_any_agent_there_is_a_place_for_a_program_of_your_own(lab: Lab, programs: Path) -> None:
    result = lab.run("init")
    assert "run: [./my-agent.sh]" in graph_of(lab)
    assert "no agent was found" in result.err
    assert lab.run("plan").code == 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{0}/v1/messages", "file:///etc", "ftp://127.0.0.1:{0}", "http://[::"]
)
def test_what_is_no_model_server_is_not_taken_for_one(programs: Path, model: RunningModel, host: str) -> None:
    assert find_agents({"PATH": str(programs), "OLLAMA_HOST": host.format(model.port)}) == []


def doctor(lab: Lab, agent: str) -> dict[str, str]:
    """The row of the one agent in the graph."""
    (lab.root / "task-graph.yaml").write_text(
        f"version: 1\ndefaults: {{agent: a}}\nagents: {{a: {agent}}}\ntasks: {{t: {{goal: x}}}}\n"
    )
    git(lab.root, "add", "-A")
    git(lab.root, "commit", "-q", "-m", "graph")
    (row,) = [row for row in lab.run("doctor", "--json").json["checks"] if row["name"] == "agent a"]
    return {name: str(value) for name, value in row.items()}


@pytest.mark.slow
@pytest.mark.sandbox
def test_doctor_starts_each_program_in_the_sandbox_and_says_its_version(
    lab: Lab, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, "gemini", "test -e /etc/shadow && exit 9; echo gemini 0.61.0")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    row = doctor(lab, "{use: gemini}")
    assert (row["health"], row["fix"]) == ("ok", "")
    assert (
        f"gemini 0.61.0 at {programs}/gemini, starts in the sandbox; its key is in GEMINI_API_KEY"
        in row["text"]
    )


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("does", "agent", "text", "fix"),
    [
        ("echo 1.0", "{use: gemini}", "GEMINI_API_KEY is not set", "export GEMINI_API_KEY="),
        ("echo 1.0", "{use: gemini, key_env: MY_KEY}", "MY_KEY is not set", "export MY_KEY="),
        (
            "echo no node >&2; exit 3",
            "{use: gemini}",
            "does not start in the sandbox: exit 3: no node",
            "--version",
        ),
        ("", "{use: qwen}", "qwen was not found", "npm install -g @qwen-code/qwen-code"),
        ("", "{use: command, run: [./gone.sh]}", "./gone.sh was not found", "install ./gone.sh"),
        ("", "{use: command, run: [./task-graph.yaml]}", "is not executable", "chmod +x './task-graph.yaml'"),
        (
            "",
            f"{{use: built-in, url: '{NOWHERE}', model: x}}",
            f"no server answers at {NOWHERE}",
            "model server",
        ),
    ],
)
def test_what_an_agent_lacks_is_a_row_with_a_fix(
    lab: Lab, programs: Path, does: str, agent: str, text: str, fix: str
) -> None:
    install(programs, "gemini", does)
    row = doctor(lab, agent)
    assert row["health"] == "bad"
    assert text in row["text"]
    assert fix in row["fix"]


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_login_is_used_if_asked_for_and_what_that_exposes_is_said(lab: Lab, programs: Path) -> None:
    install(programs, "gemini")
    row = doctor(lab, "{use: gemini, login: true}")
    assert row["health"] == "warning"
    assert "its own login, which agents can then read" in row["text"]


@pytest.mark.slow
def test_a_local_model_server_that_answers_is_well(lab: Lab, programs: Path, model: RunningModel) -> None:
    row = doctor(lab, f"{{use: built-in, url: '{model.url()}', model: tiny}}")
    assert (row["health"], row["fix"]) == ("ok", "")
