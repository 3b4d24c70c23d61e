"""Whole attempts of an agent that speaks the Agent Client Protocol: real git, real processes (W13)."""

import asyncio
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.task import Agent, AttemptKey, Commit, TaskId
from interlock.process import LocalProcesses
from interlock.run import LocalExecutor
from interlock.run.executor import NO_NEWS
from interlock.sandbox.confinement import Unconfined
from tests.acp.bench import FAKE
from tests.run.network import ALONE

pytestmark = pytest.mark.slow
TASK = TaskId("a")


@dataclass
class Person:
    """Hears what the agent asks, and answers."""

    executor: LocalExecutor
    allow: bool | None = None
    say: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    async def hear(self, call: str, tool: str, text: str) -> None:
        self.asked.append((call, tool, text))
        if self.say:
            assert self.executor.say(AttemptKey(TASK, 1), self.say)
        if self.allow is not None:
            assert self.executor.answer(AttemptKey(TASK, 1), call, self.allow)
            assert not self.executor.answer(AttemptKey(TASK, 1), call, self.allow), "it was answered before"

    async def opened(self, session: str, _sandbox: str, _base: Commit) -> None:
        self.sessions.append(session)

    async def exited(self) -> None:
        """Nothing to do about it."""


@dataclass
class Desk:
    """A repository with one commit, and an executor on it."""

    base: Commit
    executor: LocalExecutor

    def work(self, prompt: str, person: Person, permissions: str = "ask", *options: str) -> Report:
        agent = Agent("fake", "acp", (sys.executable, str(FAKE), *options), permissions=permissions)
        return asyncio.run(self._work(agent, prompt, person))

    async def _work(self, agent: Agent, prompt: str, person: Person) -> Report:
        order = Order(TASK, 1, 1, self.base, agent, prompt, "minted", 60.0, 30.0)
        listening = replace(NO_NEWS, opened=person.opened, exited=person.exited, asked=person.hear)
        return await self.executor.carry_out(order, listening)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for words in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *identity, "-C", str(tmp_path), *words], check=True)
    found = subprocess.run(
        ["git", "-C", str(tmp_path), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    place = asyncio.run(discover(tmp_path))
    # Not in a sandbox: the agent is a script of these tests, and needs their folder and library.
    processes = LocalProcesses(grace_seconds=0.3, choose=Unconfined)
    return Desk(
        Commit(found.stdout.strip()), LocalExecutor(GitWorkspaces(place), processes, place.state, ALONE)
    )


def test_what_the_agent_asks_reaches_a_person_and_the_answer_the_agent(desk: Desk) -> None:
    person = Person(desk.executor, allow=True)
    report = desk.work("@ask", person)
    assert person.asked == [("c9", "edit", "Write hello.txt")]
    assert (report.error, report.touched, report.session) == (None, ("hello.txt",), "fresh")
    assert person.sessions == ["minted", "fresh"]


def test_what_a_person_denies_is_not_done_and_counts(desk: Desk) -> None:
    report = desk.work("@ask", Person(desk.executor, allow=False))
    assert report.error is ErrorClass.DENIED
    assert report.touched == ()


def test_what_a_rule_allows_bothers_nobody(desk: Desk) -> None:
    person = Person(desk.executor)
    assert desk.work("@ask", person, "allow").error is None
    assert person.asked == []


def test_what_a_person_says_is_heard_before_the_session_ends(desk: Desk) -> None:
    report = desk.work("@ask", Person(desk.executor, allow=True, say="@echo again"))
    assert report.summary == "I was told: @echo again. All done."


@pytest.mark.thorough
def test_an_agent_that_does_not_leave_is_ended_and_its_work_kept(desk: Desk) -> None:
    report = desk.work("@write", Person(desk.executor), "allow", "--stubborn")
    assert (report.error, report.touched) == (None, ("hello.txt",))


def test_an_agent_that_dies_in_the_middle_is_a_failure(desk: Desk) -> None:
    report = desk.work("@die", Person(desk.executor), "allow")
    assert (report.error, report.exit_code) == (ErrorClass.EXIT, 7)
