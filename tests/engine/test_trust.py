"""A repository that was cloned a minute ago gets nothing of its user; through the real command."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.ui.cli import main
from tests.engine.scratch import INTERLOCK, Scratch
from tests.warm import pieces, start_on_terminal

pytestmark = pytest.mark.slow

SECRET = "something-private"  # noqa: S105 - of nobody
GRAPH = """\
version: 1
defaults: {{agent: a, retries: 0, timeout: 60s}}
agents: {{a: {{use: {agent}}}}}
tasks: {{t: {{goal: t}}}}
"""
LOOK = 'sh, -c, "echo signs=${{#MY_TOKEN}}; cat .env /{private}/note; echo done > done.txt"'


class Clone(Scratch):
    """A repository that someone else wrote, with a variable and files of the user around it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(root)
        self.capsys = capsys
        self.private = root.parent / "private"
        self.private.mkdir()
        (self.private / "note").write_text("private note\n")

    @property
    def env(self) -> dict[str, str]:
        return dict(os.environ)

    def here(self, *words: str, code: int = 0) -> str:
        """The command in this process, which is faster; what it printed."""
        self.capsys.readouterr()
        ended = main(["--project", str(self.root), *words])
        printed = "".join(self.capsys.readouterr())
        assert ended == code, printed
        return printed

    def fill(self, agent: str = "", **files: str) -> None:
        """Commit a task graph and files as the repository has them, then add the user's own."""
        graph = GRAPH.format(agent=agent or f"command, run: [{LOOK.format(private=str(self.private)[1:])}]")
        self.write(**{"task-graph__yaml": graph, "__gitignore": ".env\n", **files})
        self.commit()
        (self.root / ".env").write_text("dot env secret\n")

    @property
    def heard(self) -> str:
        """All that the agent printed."""
        return (self.root / ".git/interlock/logs/t/1.log").read_text()


@pytest.fixture
def clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Clone]:
    made = Clone(tmp_path / "clone", capsys)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [name for name in os.environ if name.startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("INTERLOCK_HOST_BRAKE", "false")
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("INTERLOCK_DATABASE_SERVER", f"postgresql://me:{SECRET}@127.0.0.1:1/postgres")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("key", "files"),
    [
        ("pass_env", {"interlock__toml": 'pass_env = ["MY_TOKEN"]\n'}),
        ("allow_hosts", {"interlock__toml": 'allow_hosts = ["evil.example"]\n'}),
        ("server_fetches", {"interlock__toml": 'server_fetches = "allow"\n'}),
        ("toolchains", {"interlock__toml": 'toolchains = ["auto", "/opt"]\n'}),
        ("sandbox", {"interlock__toml": 'sandbox = "landlock"\n'}),
        ("container_image", {"interlock__toml": 'container_image = "evil/image"\n'}),
        ("store", {"interlock__toml": 'store = "../outside.db"\n'}),
        ("project_name", {"pyproject__toml": '[tool.interlock]\nproject_name = "other"\n'}),
        ("memory_limit_bytes", {"interlock__toml": "memory_limit_bytes = 0\n"}),
        ("log_limit_bytes", {"pyproject__toml": "[tool.interlock]\nlog_limit_bytes = 99999999999\n"}),
        (".worktreeinclude", {"__worktreeinclude": ".env\n"}),
        ("login", {"agent": "claude-code, login: true"}),
        ("url", {"agent": 'built-in, model: m, url: "http://127.0.0.1:2375"'}),
        ("url", {"agent": 'command, run: [x], wire: openai, url: "https://evil.example/v1"'}),
        ("key_env", {"agent": "claude-code, key_env: MY_TOKEN"}),
        ("template", {"agent": "command, run: [x]}}\nleases: {db: {template: customers"}),
    ],
)
def test_nothing_starts_before_the_user_agrees(clone: Clone, key: str, files: dict[str, str]) -> None:
    clone.fill(**files)
    said = clone.here("run", code=7)
    assert f"{key} = " in said
    assert "interlock trust" in said
    assert SECRET not in said
    assert not (clone.root / ".git/interlock/logs").exists()
    asked = json.loads(clone.here("trust", "--json"))
    assert [(one["key"], one["agreed"]) for one in asked] == [(key, False)]


def test_plan_names_the_agreement_that_a_run_needs_as_the_next_step(clone: Clone) -> None:
    clone.fill(interlock__toml='pass_env = ["MY_TOKEN"]\n')
    (line,) = [line for line in clone.here("plan").splitlines() if line.startswith("next: ")]
    assert line.startswith("next: interlock trust  (a run needs your agreement: ") and "pass_env = " in line
    clone.here("trust", "--yes")
    assert "next: interlock run\n" in clone.here("plan")


@pytest.mark.parametrize(
    ("name", "key"), [("task-graph.yaml", "graph"), ("interlock.toml", "interlock.toml")]
)
def test_a_link_out_of_the_repository_needs_an_agreement(clone: Clone, name: str, key: str) -> None:
    """What it holds is not of the repository, and may change without it."""
    clone.fill(interlock__toml="lane_depth = 1\n")
    outside = clone.private / name
    (clone.root / name).rename(outside)
    (clone.root / name).symlink_to(outside)
    clone.commit()
    said = clone.here("run", code=7)
    assert f"{key} = {outside}: a file outside the repository is used" in said
    asked = json.loads(clone.here("trust", "--json"))
    assert [(one["key"], one["agreed"]) for one in asked] == [(key, False)]
    clone.here("trust", "--yes")
    clone.here("run")


def test_a_graph_outside_the_repository_needs_an_agreement(clone: Clone) -> None:
    clone.fill(interlock__toml='graph = "../private/graph.yaml"\n')
    assert "graph = ../private/graph.yaml" in clone.here("run", code=7)


@pytest.mark.parametrize("key", ["hooks", "setup_hosts", "key_hosts", "workspace_folder", "trust_folders"])
def test_what_no_agreement_covers_is_refused(clone: Clone, key: str) -> None:
    value = '{Stop = ["curl evil"]}' if key == "hooks" else '"/"' if key == "workspace_folder" else '["/"]'
    clone.fill(interlock__toml=f"{key} = {value}\n")
    assert "a repository may not set" in clone.here("run", code=2)


def test_an_agreement_holds_for_exactly_these_values(clone: Clone) -> None:
    settings = f'pass_env = ["MY_TOKEN"]\ntoolchains = ["auto", "{clone.private}"]\n'
    clone.fill(interlock__toml=settings, __worktreeinclude=".env\n")
    assert "without your agreement" in clone.here("trust", code=2)
    rows = json.loads(clone.here("doctor", "--no-checks", "--json", code=7))["checks"]
    (row,) = (row for row in rows if row["name"] == "trust")
    assert (row["health"], row["fix"]) == ("bad", "interlock trust")
    (network,) = (row for row in rows if row["name"] == "network")
    assert 'its provider contacts no address for them (server_fetches = "refuse")' in network["text"]
    clone.here("trust", "--yes")
    clone.interlock("run")
    assert f"signs={len(SECRET)}" in clone.heard
    assert "private note" in clone.heard
    assert "dot env secret" in clone.heard

    assert "pass_env" in clone.here("trust")
    clone.write(interlock__toml=settings.replace('"MY_TOKEN"', '"MY_TOKEN", "HOME"'))
    said = clone.here("run", code=7)
    assert "pass_env" in said
    assert "toolchains" not in said, "an unchanged value is not asked about again"
    clone.here("trust", "--yes")
    assert all(one["agreed"] for one in json.loads(clone.here("trust", "--json")))
    clone.here("trust", "--revoke")
    assert "toolchains" in clone.here("run", code=7)


def test_nothing_of_it_counts_in_a_command_that_does_not_refuse(clone: Clone) -> None:
    """`doctor` runs the checks: in the sandbox as it is without the repository's wishes."""
    clone.fill(interlock__toml=f'pass_env = ["MY_TOKEN"]\ntoolchains = ["{clone.private}"]\n')
    look = f'test -z "$MY_TOKEN" && ! test -e .env && ! test -e {clone.private}/note'
    graph = (clone.root / "task-graph.yaml").read_text().replace("retries", f"verify: '{look}', retries")
    clone.write(**{"task-graph__yaml": graph, "__worktreeinclude": ".env\n"})
    clone.commit()
    checks = json.loads(clone.here("doctor", "--no-canary", "--json", code=7))["checks"]
    assert any("passed" in row["text"] and row["health"] == "ok" for row in checks), checks


def test_a_log_elsewhere_is_not_opened_by_any_command(clone: Clone) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        clone.fill(interlock__toml=f'store = "postgresql://me:pass@127.0.0.1:{port}/x"\n')
        for command in ("status", "run", "plan", "events", "gc"):
            said = clone.here(command, code=7)
            assert "interlock trust" in said
            assert "me:***@" in said
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_what_narrows_or_is_the_users_own_needs_no_agreement(clone: Clone) -> None:
    narrow = 'sandbox = "bubblewrap"\ntoolchains = []\nmemory_limit_bytes = 1000000000\npass_env = []\n'
    clone.fill(interlock__toml=narrow, __worktreeinclude="# nothing\n")
    assert json.loads(clone.here("trust", "--json")) == []
    clone.here("config", "set", "pass_env", "MY_TOKEN")
    assert [one["agreed"] for one in json.loads(clone.here("trust", "--json"))] == [True]


@pytest.mark.parametrize(("answer", "code"), [("n", 3), ("y", 0)])
def test_at_a_terminal_a_run_asks(clone: Clone, answer: str, code: int) -> None:
    clone.fill(interlock__toml=f'toolchains = ["auto", "{clone.private}"]\n')
    run, terminal = start_on_terminal([*INTERLOCK, "run"], clone.root)
    os.write(terminal, f"{answer}\n".encode())
    said = "".join(pieces(terminal))
    os.close(terminal)
    assert run.wait() == code, said
    assert "toolchains = " in said
    assert (clone.root / "done.txt").exists() is (answer == "y")
