"""Whole attempts of the built-in agent: real git, sandbox and model proxy, and a scripted model (A7)."""

import asyncio
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.task import Agent, Commit, TaskId
from interlock.model.usage import LOCAL, Usage
from interlock.process import LocalProcesses
from interlock.proxy import EgressProxy, ModelProxy, ProxyLimits
from interlock.run import LocalExecutor
from interlock.run.options import ExecutorOptions
from interlock.run.proxied import ProxyNetwork
from tests.agents.model_server import RunningModel, running_model

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
FAST = ("--retry-seconds", "0.01", "--retries", "2", "--answer-seconds", "3")


@dataclass
class Desk:
    """A repository with one commit, and an executor on it."""

    folder: Path
    base: Commit
    executor: LocalExecutor

    def work(self, url: str, *args: str, session: str = "s1", idle_seconds: float = 30.0) -> Report:
        agent = Agent("local", "built-in", model="tiny", url=url, args=(*FAST, *args))
        return asyncio.run(self._work(agent, session, idle_seconds))

    async def _work(self, agent: Agent, session: str, idle_seconds: float) -> Report:
        prompt = "Do the scripted work."
        order = Order(TaskId("a"), 1, 1, self.base, agent, prompt, session, 60.0, idle_seconds)
        return await self.executor.carry_out(order)

    def git(self, *words: str) -> str:
        return git(self.folder, *words)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *identity, "-C", str(folder), *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    place = asyncio.run(discover(tmp_path))
    processes = LocalProcesses(grace_seconds=0.3)
    sockets = place.state / "sockets"
    network = ProxyNetwork(
        ModelProxy({}, sockets),
        EgressProxy({}, sockets, ProxyLimits()),
        place.state / "logs",
        processes.sandbox.alone,
    )
    executor = LocalExecutor(GitWorkspaces(place), processes, place.state, ExecutorOptions(network=network))
    return Desk(tmp_path, Commit(git(tmp_path, "rev-parse", "HEAD")), executor)


@pytest.fixture(scope="module")
def model() -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


@pytest.mark.parametrize("end", ["", "/v1"], ids=["ollama", "openai"])
def test_a_local_model_is_enough(desk: Desk, model: RunningModel, end: str) -> None:
    report = desk.work(model.url("basic") + end)
    assert (report.error, report.summary) == (None, "All done.")
    assert report.touched == ("hello.txt", "ran.txt")
    assert desk.git("show", f"{report.commit}:hello.txt") == "hello from the script"
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.calls) == (3300, 150, 3)


def test_its_own_count_and_that_of_the_proxy_are_the_same(desk: Desk, model: RunningModel) -> None:
    report = desk.work(model.url("basic") + "/v1")
    assert report.usage == Usage(3300, 150, 30, calls=3).priced(0.0, LOCAL)
    assert "the proxy" not in report.summary


@pytest.mark.parametrize(
    ("scenario", "error"),
    [
        ("f401", ErrorClass.AUTH),
        *(
            pytest.param(*cell, marks=pytest.mark.thorough)  # of the agent alone always: test_builtin_agent
            for cell in (("f429", ErrorClass.RATE_LIMIT), ("hangmid", ErrorClass.NETWORK))
        ),
        *(
            pytest.param(*cell, marks=pytest.mark.night)
            for cell in (
                ("f500", ErrorClass.OVERLOADED),
                ("drop", ErrorClass.NETWORK),
                ("garbage", ErrorClass.MODEL),
                ("hang", ErrorClass.NETWORK),
            )
        ),
    ],
)
def test_a_model_that_fails_ends_the_attempt_with_its_class(
    desk: Desk, model: RunningModel, scenario: str, error: ErrorClass
) -> None:
    report = desk.work(model.url(scenario, f"{scenario}-own") + "/v1")
    assert report.error is error
    assert report.text


def test_two_refusals_are_survived(desk: Desk, model: RunningModel) -> None:
    assert desk.work(model.url("f429x2", "twice") + "/v1").error is None


def test_what_is_outside_of_the_repository_stays_as_it_is(desk: Desk, model: RunningModel) -> None:
    model.add_script(
        "escape",
        (
            {"op": "call", "tool": "edit", "arguments": {"path": "/etc/interlock", "old": "", "new": "x"}},
            {"op": "shell", "command": "echo x > /etc/interlock || touch refused"},
            {"op": "say", "text": "All done."},
        ),
    )
    assert desk.work(model.url("escape") + "/v1").touched == ("refused",)
    assert not Path("/etc/interlock").exists()
