"""What many runs teach about difficulty, time and money: K1, A8. Few attempts are not believed too much."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events.state import State
from interlock.events.tallies import Tally
from interlock.learn.estimate import Estimator
from interlock.learn.evidence import STRENGTH, UNKNOWN, Kind, success
from interlock.model.forecast import Forecast
from interlock.model.task import Agent, Task, TaskId

API = Kind("backend", "bot", "small")


def forecast(*tallies: Tally, estimate: float | None = None) -> Forecast:
    """Of a task of this kind, with or without an estimate."""
    state = State()
    for each in tallies:
        state.learned.tallies.kinds[f"{each.category}\n{each.agent}\n{each.model}"] = each
    agent = Agent(API.agent, "command", ("x",), model=API.model)
    seconds, has_estimate = (600.0, False) if estimate is None else (estimate, True)
    task = Task(TaskId("a"), "", agent, category=API.category, estimate_seconds=seconds)
    return Estimator(state).forecast(replace(task, has_estimate=has_estimate, timeout_seconds=1e9))


def tried(landed: float, failed: float, *, category: str = "backend", agent: str = "bot") -> Tally:
    return Tally(category, agent, "small", landed=landed, failed=failed)


def timed(*seconds: float, category: str = "backend", agent: str = "bot", estimate: float = 600.0) -> Tally:
    tally = Tally(category, agent, "small")
    for each in seconds:
        add(tally, each, estimate)
    return tally


def add(tally: Tally, seconds: float, estimate: float) -> None:
    tally.seconds.add(seconds)
    tally.estimated.add(seconds, estimate)


def unsaid(*seconds: float, category: str = "backend", agent: str = "bot") -> Tally:
    """Of tasks that had no estimate."""
    tally = Tally(category, agent, "small")
    for each in seconds:
        tally.seconds.add(each)
    return tally


def chance(*tallies: Tally, kind: Kind = API) -> float:
    return success(tallies, kind)


def test_without_any_attempt_a_published_share_is_believed() -> None:
    assert chance() == pytest.approx(UNKNOWN)
    assert chance(kind=Kind("docs", "bot")) == pytest.approx(0.82)
    assert chance(kind=Kind("feature", "bot")) == pytest.approx(0.66)


def test_many_attempts_of_the_very_kind_outweigh_everything_else() -> None:
    others = [
        tried(0, 500, agent="other"),
        tried(0, 500, category="docs"),
        Tally("backend", "bot", "large", failed=99),
    ]
    assert chance(tried(950, 50), *others) == pytest.approx(0.95, abs=0.02)


def test_the_same_kind_of_work_by_another_agent_says_something_and_other_work_nothing() -> None:
    assert 0.4 < chance(tried(0, 50, agent="other")) < chance(tried(0, 50, category="docs")) == UNKNOWN


@pytest.mark.property
@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 50), st.floats(0, 50))
def test_more_success_anywhere_raises_the_chances_and_more_failure_lowers_them(
    landed: float, failed: float, near_landed: float, near_failed: float
) -> None:
    near = tried(near_landed, near_failed, agent="other")
    now = chance(tried(landed, failed), near)
    assert chance(tried(landed + 1, failed), near) > now > chance(tried(landed, failed + 1), near)
    assert chance(tried(landed, failed), tried(near_landed + 1, near_failed, agent="other")) >= now
    assert chance(tried(landed, failed), tried(near_landed, near_failed + 1, agent="other")) <= now


@pytest.mark.property
@given(st.floats(0, 100), st.floats(0, 100))
def test_the_chances_lie_between_what_was_believed_before_and_what_was_seen(
    landed: float, failed: float
) -> None:
    attempts = landed + failed
    found = chance(tried(landed, failed))
    assert found == pytest.approx((STRENGTH * UNKNOWN + landed) / (STRENGTH + attempts))
    if attempts:
        low, high = sorted((UNKNOWN, landed / attempts))
        assert low - 1e-9 <= found <= high + 1e-9


def median(*tallies: Tally, estimate: float | None = 600.0) -> float:
    return forecast(*tallies, estimate=estimate).seconds


def p90(*tallies: Tally, estimate: float | None = 600.0) -> float:
    return forecast(*tallies, estimate=estimate).seconds_p90


def test_without_any_attempt_the_tasks_own_estimate_is_believed_but_not_trusted_far() -> None:
    assert median(estimate=90.0) == pytest.approx(90.0)
    assert p90(estimate=90.0) > 3 * 90.0


def test_a_task_without_an_estimate_takes_what_such_work_took() -> None:
    four = unsaid(2.0, 2.0, 2.0, 2.0)
    assert median(four, estimate=None) == pytest.approx(2.0)
    assert forecast().is_guess
    assert not forecast(four).is_guess


def test_the_nearest_attempts_count_once_there_are_three_of_them() -> None:
    others, near = unsaid(*[100.0] * 9, category="docs"), unsaid(*[20.0] * 5, agent="other")
    assert median(others, estimate=None) == pytest.approx(100.0)
    assert median(others, near, estimate=None) == pytest.approx(20.0)
    assert median(others, near, unsaid(4.0, 4.0, 4.0), estimate=None) == pytest.approx(4.0)


def test_an_estimate_is_not_corrected_by_work_that_had_none() -> None:
    """A default that was never written is no evidence."""
    assert median(unsaid(2.0, 2.0, 2.0, 2.0), estimate=5.0) == pytest.approx(5.0)
    assert median(timed(2.0, 2.0, 2.0, 2.0, estimate=4.0), estimate=5.0) == pytest.approx(2.9, rel=0.1)


def test_attempts_of_the_very_kind_draw_the_forecast_to_what_they_took() -> None:
    few, many = median(timed(60, 60)), median(timed(*[60] * 40))
    assert 60 < many < few < 600
    assert many == pytest.approx(60, rel=0.1)


def test_the_more_is_known_the_closer_is_the_p90() -> None:
    dice = random.Random(5)
    some = [math.exp(dice.gauss(math.log(300), 0.5)) for _ in range(60)]
    spans = [p90(timed(*some[:count])) / median(timed(*some[:count])) for count in (2, 10, 60)]
    assert spans == sorted(spans, reverse=True)
    assert spans[-1] == pytest.approx(math.exp(1.2816 * 0.5), rel=0.2)


def test_where_tasks_differ_as_their_estimates_do_a_forecast_follows_the_estimate() -> None:
    both = timed(*[30.0] * 10, estimate=60.0)
    for _ in range(10):
        add(both, 300.0, 600.0)
    assert median(both, estimate=600.0) / median(both, estimate=60.0) > 6


@pytest.mark.property
@given(st.lists(st.floats(1, 10_000), min_size=1, max_size=30), st.floats(1, 10_000))
def test_a_forecast_lies_between_the_estimate_and_what_was_measured(
    seconds: list[float], estimate: float
) -> None:
    found = median(timed(*seconds, estimate=estimate), estimate=estimate)
    middle = math.exp(sum(map(math.log, seconds)) / len(seconds))
    assert min(estimate, middle) * (1 - 1e-9) <= found <= max(estimate, middle) * (1 + 1e-9)


@pytest.mark.slow
def test_nine_of_ten_stay_below_the_p90_however_few_attempts_are_behind_it() -> None:
    """Kinds that differ among each other as the weights take them to, and attempts drawn from them."""
    dice = random.Random(11)
    below = total = 0
    for _ in range(400):
        centre = math.log(600) + dice.gauss(0, 0.6)
        own, near = centre + dice.gauss(0, 0.3), centre
        seen = [math.exp(dice.gauss(own, 0.6)) for _ in range(dice.choice((0, 1, 2, 4, 8, 16)))]
        others = [math.exp(dice.gauss(near, 0.6)) for _ in range(dice.choice((0, 3, 12)))]
        told = p90(timed(*seen), timed(*others, agent="other"))
        drawn = [math.exp(dice.gauss(own, 0.6)) for _ in range(20)]
        below += sum(each <= told for each in drawn)
        total += len(drawn)
    assert 0.87 <= below / total <= 0.95


def priced(*usd: float, tokens: float = 0.0, category: str = "backend", agent: str = "bot") -> Tally:
    tally = Tally(category, agent, "small")
    for each in usd:
        tally.cost_usd.add(each)
    if tokens:
        tally.tokens.add(tokens)
    return tally


def test_nobody_knows_what_an_agent_costs_that_never_said_so() -> None:
    assert forecast().cost_usd is None
    assert forecast(priced(2.0, agent="other")).cost_usd is None


def test_what_an_agents_attempts_cost_is_expected_again() -> None:
    found = forecast(priced(*[0.5] * 20))
    assert found.cost_usd == pytest.approx(0.5)
    assert found.cost_usd_p90
    assert 0.5 < found.cost_usd_p90 < 1.5


def test_where_only_tokens_are_known_the_models_price_makes_them_dollars() -> None:
    elsewhere = Tally("docs", "other", "small", paid_usd=3.0, paid_tokens=1_000_000.0)
    assert forecast(priced(tokens=200_000.0), elsewhere).cost_usd == pytest.approx(0.6)
