"""The brake's core in simulated time: what a provider takes is found by feedback (K7, W11)."""

import pytest

from bench.traffic import Server, simulate
from interlock.model.reason import said
from interlock.proxy.brake.brake import Account, account_of
from interlock.proxy.brake.limit import COLD, CallLimit, Ticket
from interlock.proxy.brake.throttle import BREAKS, CHECK_AHEAD_SECONDS, CallVerdict, Ending, Throttle

HOSTED, OWN = "api.openai.com OPENAI_API_KEY", "127.0.0.1:11434"
GOOD = Ending(CallVerdict.GOOD)


def refusal(seconds: float = 0.0, answer: CallVerdict = CallVerdict.CROWDED) -> Ending:
    return Ending(answer, "HTTP 429: no", seconds)


def test_a_good_answer_raises_the_limit_by_a_whole_one_until_somebody_was_turned_away() -> None:
    limit = CallLimit()
    limit.good(0.0, Ticket(0.0, 2))
    assert limit.at_once == COLD + 1
    limit.refused(1.0, Ticket(0.5, 200))
    limit.wall = 0
    before = limit.at_once
    limit.good(2.0, Ticket(1.5, 2))
    assert limit.at_once == before + 1 / before


def test_calls_that_were_under_way_at_the_cut_cut_nothing_more() -> None:
    limit = CallLimit(16.0)
    assert limit.refused(1.0, Ticket(0.5, 16))
    assert not limit.refused(1.1, Ticket(0.9, 15))
    assert limit.at_once == 8.0


def test_a_limit_that_nothing_waits_for_does_not_grow() -> None:
    account = account_of(HOSTED)
    taken = account.take(0.0)
    assert isinstance(taken, Ticket)
    account.give_back(1.0, taken, GOOD, 0)
    assert account.throttle.places == COLD


@pytest.mark.parametrize("provider", [HOSTED, OWN])
@pytest.mark.parametrize("at_once", [3, 8, 20])
def test_a_hidden_limit_is_found_used_and_hardly_ever_run_into_also_when_it_halves(
    provider: str, at_once: int
) -> None:
    """Must show 3 without a network: near to no 429s, and nothing left unused."""
    server = Server(at_once=lambda now: at_once if now < 300 else at_once // 2)
    tally = simulate(account_of(provider), server, users=32, seconds=600)
    assert tally.refused_per_100() < 1.0
    assert tally.good_per_second(60, 300) > 0.9 * at_once
    assert tally.good_per_second(330, 600) > 0.9 * (at_once // 2)


@pytest.mark.parametrize("per_minute", [60, 600])
def test_a_hidden_rate_is_kept_to(per_minute: int) -> None:
    tally = simulate(account_of(HOSTED), Server(per_minute=per_minute), users=20, seconds=600)
    assert tally.refused_per_100(after=120) < 1.0
    assert tally.good_per_second(60, 600) * 60 > 0.9 * per_minute


@pytest.mark.parametrize("speed", [1, 4, 12])
def test_a_server_that_only_becomes_slower_gets_as_many_calls_as_pay(speed: int) -> None:
    """K7: nothing is ever refused, so the limit is found by what more calls bring."""
    account = account_of(OWN)
    tally = simulate(account, Server(speed=lambda _now: speed), users=48, seconds=600)
    assert speed <= account.throttle.places <= 2.5 * speed
    assert tally.good_per_second(100, 600) > 0.9 * speed


def test_the_time_that_a_provider_names_is_kept_by_all_and_then_they_come_one_by_one() -> None:
    account = Account(Throttle(limit=CallLimit(16.0)))
    account.under_way = 1
    account.give_back(1.0, Ticket(0.0, 16), refusal(30.0), 10)
    assert account.take(1.0) == pytest.approx(30.0)
    assert isinstance(account.take(31.0), Ticket)
    wait = account.take(31.0)
    assert isinstance(wait, float)
    assert wait > 0.1


def test_a_way_that_is_broken_is_tried_by_one_call_at_a_time() -> None:
    """W11: a breaker for each provider."""
    throttle = Throttle(limit=CallLimit(8.0))
    for number in range(BREAKS):
        throttle.end(
            number, Ticket(number, 1), Ending(CallVerdict.BROKEN, "connection refused"), held_back=False
        )
    now = float(BREAKS)
    assert throttle.wait_seconds(now - 1, 0) > 0
    assert throttle.wait_seconds(now + 30, 0) == 0
    assert throttle.wait_seconds(now + 30, 1) > 0
    throttle.end(now + 31, Ticket(now + 30, 1), GOOD, held_back=False)
    assert throttle.places == 8


def test_a_server_that_is_down_is_closed_at_the_first_call_and_tried_ever_more_rarely() -> None:
    throttle = Throttle(limit=CallLimit(8.0))
    down = Ending(CallVerdict.DOWN, "connection refused")
    throttle.end(0.0, Ticket(0.0, 1), down, held_back=False)
    throttle.end(0.1, Ticket(0.0, 2), down, held_back=False)  # it was under way: no news
    assert (throttle.until, throttle.closed_by, throttle.why) == (
        3.0,
        CallVerdict.DOWN,
        said("connection refused"),
    )
    untils = []
    now = 0.0
    for _ in range(6):
        now = throttle.until - CHECK_AHEAD_SECONDS
        throttle.reached(now, "connection refused")
        untils.append(throttle.until - now)
    assert untils == [6.0, 12.0, 24.0, 48.0, 60.0, 60.0]
    throttle.reached(now, "")
    assert (throttle.until, throttle.places) == (0.0, 8)


def test_a_quota_that_names_no_time_is_asked_for_ever_more_rarely() -> None:
    throttle = Throttle()
    waits = []
    now = 0.0
    for _ in range(8):
        throttle.end(now, Ticket(now, 1), refusal(answer=CallVerdict.QUOTA), held_back=False)
        waits.append(throttle.until - now)
        now = throttle.until
    assert waits[:3] == [60.0, 120.0, 240.0]
    assert waits[-1] == 3600.0
