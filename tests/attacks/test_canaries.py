"""S6, D11: twelve secrets of a user, and none of them where an agent or a reader of the log could look."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.agents.model_server import RunningModel, running_model
from tests.attacks.host import OUTSIDE_TMP, Host, host
from tests.engine.scratch import INTERLOCK, Background

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

VARIABLES = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "NPM_TOKEN",
    "DATABASE_URL",
    "SOME_SERVICE_PASSWORD",
)
FILES = (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml")
AGENT = """\
env
cat /proc/self/environ /proc/1/environ /proc/*/cmdline
cat {home}/.ssh/* {home}/.aws/* {home}/.netrc {home}/.config/gh/hosts.yml
python3 ask.py
echo asked
while ! test -e "$HOME/go"; do sleep 0.05; done
echo done > done.txt
exit 0
"""
ASK = """\
import json, os, urllib.request
words = {"model": "m", "messages": [{"role": "user", "content": "hello " + os.environ["OPENAI_API_KEY"]}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(words).encode(),
    {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request, timeout=20).read().decode())
"""
GRAPH = """\
version: 1
defaults: {{agent: curious, timeout: 60s, retries: 0}}
agents:
  curious: {{use: command, run: [sh, agent.sh], wire: openai, url: "{url}", key_env: OPENAI_API_KEY}}
tasks:
  look: {{goal: Look around, done_when: ["env; cat /proc/*/environ; test -e done.txt"]}}
"""


@pytest.fixture
def model() -> Iterator[RunningModel]:
    with running_model() as model:
        yield model


@pytest.fixture
def machine(model: RunningModel) -> Iterator[Host]:
    with (
        tempfile.TemporaryDirectory(prefix="canary-", dir=OUTSIDE_TMP) as folder,
        host(Path(folder), str(os.geteuid())) as made,
    ):
        (made.repository / "agent.sh").write_text(AGENT.format(home=made.home))
        (made.repository / "ask.py").write_text(ASK)
        shutil.rmtree(made.repository / "inside")
        for name in ("targets.json", ".env"):
            (made.repository / name).unlink()
        made.commit(GRAPH.format(url=model.url("basic", "canaries")))
        yield made


def places(machine: Host) -> Iterator[tuple[str, bytes]]:
    """Everything that is kept: files, the log as text, and all that git knows."""
    for path in machine.repository.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(machine.repository).parts[:1]:
            yield str(path), path.read_bytes()
    with closing(sqlite3.connect(machine.repository / ".git/interlock" / "log.db")) as log:
        yield "the log", "\n".join(log.iterdump()).encode()
    yield (
        "history",
        subprocess.run(
            ["git", "log", "--all", "-p"], cwd=machine.repository, capture_output=True, check=True
        ).stdout,
    )


def processes(but: set[int]) -> Iterator[tuple[str, bytes]]:
    """What anybody can see of the programs that run."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes()
            yield f"command line of {words!r}", words
            if int(folder.name) not in but:
                yield f"environment of {words!r}", (folder / "environ").read_bytes()


def found(canaries: dict[str, str], where: Iterator[tuple[str, bytes]]) -> list[str]:
    return [
        f"{name} in {place}"
        for place, text in where
        for name, canary in canaries.items()
        if canary.encode() in text
    ]


def test_no_secret_is_kept_or_shown(
    machine: Host, model: RunningModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The credential arrives at the model and nowhere else; what environment and home hold, nowhere."""
    canaries = {name: f"canary-{os.urandom(16).hex()}" for name in VARIABLES + FILES}
    for name in FILES:
        (machine.home / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / name).write_text(canaries[name] + "\n")
    for name in VARIABLES:
        monkeypatch.setenv(name, canaries[name])
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("INTERLOCK_TRUST_FOLDERS", str(machine.repository))  # its graph names a model server
    run = Background([*INTERLOCK, "run", "--no-input"], machine.repository)
    try:
        run.wait_for_line("look: implement started")
        following = Background([*INTERLOCK, "logs", "look", "--follow"], machine.repository)
        try:
            following.wait_for_line("asked")
        finally:
            following.close()
        seen = found(canaries, processes(but={run.pid, os.getpid()}))
        (home,) = (machine.repository / ".git/interlock/homes/look").iterdir()
        (home / "go").touch()
        assert run.wait() == 0, run.output
    finally:
        run.close()
    assert seen == []
    assert found(canaries, places(machine)) == []
    assert found(canaries, iter([("the screen", run.output.encode())])) == []
    (call,) = model.calls("canaries")
    assert call.headers["authorization"] == f"Bearer {canaries['OPENAI_API_KEY']}"
