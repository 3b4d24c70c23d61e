"""What an attempt came to, from what the program says, what the proxy saw and how it ended (A2)."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock.agents.adapter import SessionVerdict
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.process import Ended, Exit
from interlock.model.task import Agent, Commit, TaskId
from interlock.model.usage import LOCAL, REPORTED, Usage, reconciled
from interlock.proxy import CallError
from interlock.run.network import ProxyRecord
from interlock.run.outcome import how_it_went, outside_if_disk_full

AGENT = Agent("c", "claude-code")
ORDER = Order(TaskId("a"), 1, 1, Commit("b"), AGENT, "p", "s", 60.0, 30.0)
BUSY = CallError(ErrorClass.RATE_LIMIT, "too many requests", 7.0)


def went(
    verdict: SessionVerdict,
    ended: Ended = Ended.EXITED,
    seen: ProxyRecord | None = None,
    agent: Agent = AGENT,
) -> Report:
    report = Report(TaskId("a"), 1, Commit("b"))
    return how_it_went(report, replace(ORDER, agent=agent), Exit(ended, 0, 1.0, ""), verdict, seen)


def test_a_good_end_is_one() -> None:
    assert went(SessionVerdict(summary="done")).error is None


def test_a_model_that_did_not_answer_last_contradicts_a_good_end() -> None:
    """Some programs end well with an error for an answer."""
    report = went(SessionVerdict(), seen=ProxyRecord(Usage(), BUSY))
    assert (report.error, report.retry_after_seconds) == (ErrorClass.RATE_LIMIT, 7.0)


@pytest.mark.parametrize("own", [ErrorClass.DENIED, ErrorClass.TURNS, ErrorClass.BUDGET, ErrorClass.CONTEXT])
def test_what_the_program_knows_better_stays(own: ErrorClass) -> None:
    assert went(SessionVerdict(own, "so"), seen=ProxyRecord(Usage(), BUSY)).error is own


def test_a_program_that_was_stopped_while_its_model_was_silent_says_why() -> None:
    silent = CallError(ErrorClass.NETWORK, "no answer for 300 s")
    report = went(SessionVerdict(ErrorClass.EXIT), Ended.IDLE, ProxyRecord(Usage(), silent))
    assert report.error is ErrorClass.NETWORK
    assert report.text == "stopped: it wrote nothing for 30 s: no answer for 300 s"


@pytest.mark.parametrize("ended", [Ended.MEMORY, Ended.DISK])
def test_a_program_that_took_too_much_is_not_excused_by_its_model(ended: Ended) -> None:
    """The next attempt would take as much again; waiting for the model does not help it."""
    report = went(SessionVerdict(), ended, ProxyRecord(Usage(), BUSY))
    assert (report.error, report.retry_after_seconds) == (ErrorClass.LIMIT, 0.0)
    assert "_limit_bytes allows" in report.text


def test_a_program_that_was_stopped_with_a_model_that_answers_was_just_idle() -> None:
    assert went(SessionVerdict(), Ended.IDLE, ProxyRecord(Usage())).error is ErrorClass.IDLE


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        (AGENT, "set ANTHROPIC_API_KEY to a valid key"),
        (replace(AGENT, key_env="MY_KEY"), "set MY_KEY to a valid key"),
        (replace(AGENT, login=True), "log in with claude-code again"),
        (Agent("l", "built-in"), "name its key in agents.l.key_env"),
    ],
)
def test_a_key_that_is_not_accepted_comes_with_what_to_do(agent: Agent, says: str) -> None:
    assert says in went(SessionVerdict(ErrorClass.AUTH, "401"), agent=agent).text


def test_where_counts_differ_the_proxy_is_believed_and_it_is_said() -> None:
    claimed, counted = Usage(900, 50).priced(0.5, REPORTED), Usage(1000, 50, calls=1)
    report = went(SessionVerdict(usage=claimed), seen=ProxyRecord(counted))
    assert report.usage == counted.priced(0.5, REPORTED)
    assert "it counted 900/50 tokens, the proxy 1000/50" in report.text


def test_a_price_that_is_known_counts_before_the_one_that_a_program_makes_up() -> None:
    claimed, counted = Usage(900, 50).priced(0.5, REPORTED), Usage(900, 50, calls=1).priced(0.0, LOCAL)
    assert reconciled(claimed, counted) == counted


def test_a_program_that_went_past_the_proxy_is_taken_at_its_word() -> None:
    assert reconciled(Usage(900, 50), Usage()) == Usage(900, 50)
    assert reconciled(None, Usage(5, 5, calls=1)) == Usage(5, 5, calls=1)


def test_a_report_outlives_the_folder_of_its_agent(tmp_path: Path) -> None:
    """The report was dropped with its usage when the agent had removed the folder whose disk is looked at."""
    report = Report(TaskId("a"), 1, Commit("b"), ErrorClass.EXIT, usage=Usage(calls=1))
    assert outside_if_disk_full(report, tmp_path / "gone") is report
