"""Trouble with a model's provider, as a person is told of it: once, with names, and with what helps."""

from collections.abc import Iterator

import pytest

from interlock.events.facts import ClutchDecided, Fact, PhaseFailed, PhaseStarted, TaskAccepted, WorkFinished
from interlock.events.fold import apply
from interlock.events.record import Recorded, encode
from interlock.events.state import State
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.ui.words.remedies import login_command
from interlock.ui.words.run_lines import Telling
from tests.agents.model_server.running import RunningModel, running_model
from tests.engine.conftest import scratch
from tests.engine.scratch import Scratch

__all__ = ["scratch"]

PROVIDER = "127.0.0.1:9 KEY"
AGENT = Agent("own", "built-in", url="http://127.0.0.1:9/v1", model="tiny", key_env="KEY")


MESSAGE = "HTTP 529: overloaded; try later"


class Log:
    """Facts on their way to a reader."""

    def __init__(self, *tasks: str) -> None:
        self.telling, self.state, self.time = Telling(), State(), 0.0
        self.add(*(TaskAccepted(Task(TaskId(name), "Make it", AGENT)) for name in tasks))

    def add(self, *facts: Fact) -> list[str]:
        said: list[str] = []
        for fact in facts:
            self.time += 1.0
            row = Recorded(self.state.seq + 1, self.time, "test", *encode(fact), "")
            apply(self.state, row)
            said += [text.partition(" ")[2] for _, text in self.telling.hear(row, self.state)]
        return said


def closed(until: float) -> ClutchDecided:
    # The message has what another program would take for a separator: nothing reads it.
    why = Reason(Why.REFUSED, {"at_once": 4, "now_at_once": 2, "cause": said(MESSAGE)})
    return ClutchDecided(0, "provider", why, provider=PROVIDER, until=until)


def opened() -> ClutchDecided:
    return ClutchDecided(2, "provider", said(MESSAGE), provider=PROVIDER)


def started(task: str, attempt: int) -> PhaseStarted:
    return PhaseStarted(TaskId(task), attempt, "implement", attempt, "h", agent="own")


def refused(task: str, attempt: int) -> PhaseFailed:
    what, error = said(MESSAGE), ErrorClass.OVERLOADED
    return PhaseFailed(TaskId(task), attempt, "implement", attempt, error, what, retry_after_seconds=5.0)


def test_an_overloaded_provider_is_one_line_however_often_it_refuses() -> None:
    log = Log("a", "b")
    log.add(started("a", 1), started("b", 1))
    (first,) = log.add(closed(100.0))
    assert "127.0.0.1:9 refuses calls: HTTP 529: overloaded; try later; next try at" in first
    for n in range(1, 7):
        assert log.add(opened(), closed(100.0 + n), refused("a", n), started("a", n + 1)) == []
    (line,) = log.telling.waiting(60.0)
    assert line == "127.0.0.1:9: HTTP 529: overloaded; try later (13 refusals in 55s, next try in 46s)"


def test_when_it_answers_again_that_is_said_once() -> None:
    log = Log("a")
    log.add(started("a", 1), closed(9.0))
    done = WorkFinished(TaskId("a"), 1, "implement", 1, commit=Commit("c" * 40), touched=("x",), seconds=2.0)
    answers, finished = log.add(done)
    assert "127.0.0.1:9 answers again, after 1 refusal in 1s" in answers
    assert finished.startswith("a: change made")
    assert log.telling.waiting(60.0) == []
    assert log.add(opened())


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        (Agent("a", "claude-code"), "export ANTHROPIC_API_KEY=..."),
        (Agent("a", "codex", key_env="MY_KEY"), "export MY_KEY=..."),
        (Agent("a", "claude-code", login=True), "claude auth login"),
        (Agent("a", "gemini", login=True), "gemini"),
        (Agent("a", "built-in", url="http://127.0.0.1:9", model="m"), ""),
    ],
)
def test_after_a_refused_credential_the_next_command_gives_a_new_one(agent: Agent, command: str) -> None:
    assert login_command(agent) == command


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong")


@pytest.fixture(scope="module")
def model() -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


def failed_run(scratch: Scratch, model: RunningModel, scenario: str) -> str:
    """A run whose model answers like that, to its end."""
    scratch.write(
        **{
            "task-graph__yaml": "version: 1\ndefaults: {agent: own}\n"
            "agents:\n  own: {use: built-in, model: qwen9, key_env: MY_KEY, "
            f"url: '{model.url(scenario)}'}}\n"
            "tasks: {t: {goal: Make it}}\n"
        },
    )
    scratch.commit()
    running = scratch.start("run")
    assert running.wait() == 1
    return running.output


@pytest.mark.slow
def test_a_model_that_is_not_there_is_named_with_its_address(scratch: Scratch, model: RunningModel) -> None:
    said = failed_run(scratch, model, "f404")
    assert f"model `qwen9` not found at 127.0.0.1:{model.port}" in said
    assert "interlock retry" not in said
    assert len(scratch.facts("PhaseFailed")) == 1


@pytest.mark.slow
def test_after_a_401_the_next_command_is_not_a_bare_retry(scratch: Scratch, model: RunningModel) -> None:
    said = failed_run(scratch, model, "f401")
    (line,) = [line for line in said.splitlines() if "FAILED" in line]
    assert line.endswith("Next: export MY_KEY=... && interlock retry t")
    assert "export MY_KEY=... && interlock retry t" in scratch.interlock("status")
    assert "next: export MY_KEY=... && interlock retry t" in scratch.interlock("explain", "t")
