"""The goodput brake: what it makes of the evidence (K1, K2; DESIGN 5)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events.tallies import Goodput
from interlock.learn.clutch import Brake, CurrentLimit, Past, arms, beginning, next_step, outlook
from interlock.model.reason import Reason, Why


def seen(landed: float, troubled: float = 0.0, seconds: float = 300.0) -> Goodput:
    ended = landed + troubled
    return Goodput(ended, ended * seconds, landed, 0.0, troubled)


def past(**numbers: Goodput) -> Past:
    """`past(w3=seen(9, 1))`: what three agents at once came to."""
    return Past("backend", {int(name[1:]): goodput for name, goodput in numbers.items()})


def test_a_kind_of_work_that_nothing_is_known_of_starts_with_one_agent() -> None:
    advice = beginning(Past("backend"), 16)
    assert (advice.agents, advice.brake) == (1, Brake.COLD_START)


def test_after_runs_without_the_clutch_it_begins_with_the_number_that_did_best() -> None:
    advice = beginning(past(w1=seen(5), w3=seen(20, 2), w6=seen(6, 20)), 16)
    assert (advice.agents, advice.brake) == (3, Brake.GOODPUT)
    assert (advice.why.code, advice.why.number("agents")) == (Why.DID_BEST, 3)


def test_a_number_of_agents_that_a_wrong_time_made_counts_for_nothing() -> None:
    advice = beginning(past(w3=seen(20, 2), w1000000000=seen(20)), 16)
    assert advice.agents == 3


def test_where_a_person_said_nothing_a_new_kind_of_work_begins_with_the_default() -> None:
    advice = beginning(Past("backend"), 16, cold=3)
    assert (advice.agents, advice.brake) == (3, Brake.COLD_START)
    assert advice.why == Reason(Why.NO_RESULTS, {"agents": 3})


def test_a_kind_whose_first_attempt_is_always_red_is_not_blamed_on_the_number_of_agents() -> None:
    """Each task lands at its second attempt, however many are at work: the number goes up, and never down."""
    own: dict[int, Goodput] = {}
    standing, path = CurrentLimit(1, most=8), [1]
    for _ in range(40):
        w = standing.agents
        goodput = own.setdefault(w, Goodput())
        goodput.attempts += 2 * w
        goodput.agent_seconds += 2 * w * 60.0
        goodput.landed += w
        goodput.failed += w
        goodput.first_ended += w
        standing = replace(standing, landed=standing.landed + w, troubled=standing.troubled + w)
        if step := next_step(Past("docs", own), standing):
            standing = CurrentLimit(step.agents, most=8)
            path.append(step.agents)
    assert path == list(range(1, 9))


def test_a_single_attempt_is_still_known_when_it_has_faded_a_little() -> None:
    """K5: each run makes what was seen worth 2 % less, and none of it unknown again."""
    fresh, faded = arms(past(w1=seen(1, seconds=2)), 1)[1], arms(past(w1=seen(0.98, seconds=2)), 1)[1]
    assert fresh.is_tried and faded.is_tried
    assert faded.landed_per_hour == pytest.approx(fresh.landed_per_hour, rel=0.05)


def test_it_opens_by_one_after_landings_without_trouble_and_says_what_they_were() -> None:
    advice = next_step(past(w1=seen(2)), CurrentLimit(1, landed=2))
    assert advice is not None
    assert (advice.agents, advice.why.code, advice.why.number("agents")) == (2, Why.PAYS, 1)
    assert (advice.why.number("landed"), advice.why.number("troubled")) == (2, 0)


@pytest.mark.parametrize(
    "standing",
    [
        CurrentLimit(1, landed=1),
        CurrentLimit(1, landed=2, queued=False),
        CurrentLimit(1, landed=2, most=1),
        CurrentLimit(6, landed=3),
        CurrentLimit(1, landed=2, troubled=3),
    ],
    ids=["too few landed", "nobody waits", "no more may", "too few for six", "unusual trouble"],
)
def test_it_does_not_open(standing: CurrentLimit) -> None:
    numbers = {standing.agents: seen(standing.landed, standing.troubled)}
    assert next_step(Past("backend", numbers), standing) is None


def test_work_that_is_hard_for_one_agent_too_does_not_keep_it_from_opening() -> None:
    """Trouble counts against a number only as far as it is more than with one agent fewer."""
    hard = past(w1=seen(8, 10), w2=seen(8, 10), w3=seen(4, 5))
    advice = next_step(hard, CurrentLimit(3, landed=4, troubled=5))
    assert advice is not None
    assert advice.agents == 4


def test_it_closes_when_one_more_brought_less() -> None:
    advice = next_step(past(w4=seen(30, 4), w5=seen(8, 12)), CurrentLimit(5, landed=8, troubled=12))
    assert advice is not None
    assert advice.agents == 4
    assert (advice.why.code, advice.why.number("troubled")) == (Why.DOES_NOT_PAY, 12)
    assert (advice.why.number("agents"), advice.why.cause and advice.why.cause.number("agents")) == (5, 4)


def test_clear_damage_takes_it_down_by_half_at_once_and_not_further() -> None:
    damage = past(w2=seen(40, 2), w4=seen(40, 4), w8=seen(2, 30))
    advice = next_step(damage, CurrentLimit(8, landed=2, troubled=30))
    assert advice is not None
    assert advice.agents == 4


def test_agents_that_slow_each_other_down_are_fewer_next_time() -> None:
    crowded = past(w4=seen(30, seconds=300), w6=seen(30, seconds=800))
    advice = next_step(crowded, CurrentLimit(6, landed=30))
    assert advice is not None
    assert advice.agents < 6


def test_a_step_that_failed_is_not_taken_again_until_its_evidence_has_faded() -> None:
    failed = past(w4=seen(40, 2), w5=seen(5, 25))
    assert next_step(failed, CurrentLimit(4, landed=40, troubled=2)) is None
    assert outlook(failed, CurrentLimit(4, landed=40)).code == Why.DID_WORSE
    faded = past(w4=seen(40, 2), w5=seen(0.5, 1.0))
    assert next_step(faded, CurrentLimit(4, landed=40, troubled=2)) is not None


def test_what_would_change_it_is_said_in_landings() -> None:
    said = outlook(past(w3=seen(1)), CurrentLimit(3, landed=1))
    assert said == Reason(Why.OPENS_AFTER, {"agents": 4, "landings": 2, "at_work": 3})


counts = st.integers(0, 40)
evidence = st.dictionaries(
    st.integers(1, 9), st.builds(seen, counts, counts, st.floats(1, 5_000)), max_size=6
)


@pytest.mark.property
@given(evidence, evidence, st.integers(1, 9))
def test_expectations_stay_within_sense(
    own: dict[int, Goodput], other: dict[int, Goodput], most: int
) -> None:
    found = arms(Past("docs", own, [other]), most)
    assert list(found) == list(range(1, most + 1))
    chances = [arm.chance for arm in found.values()]
    assert all(0 < chance <= 1 for chance in chances)
    assert chances == sorted(chances, reverse=True)
    assert all(arm.value <= arm.could_be for arm in found.values())


@pytest.mark.property
@given(evidence, st.integers(1, 9), counts, counts, st.booleans())
def test_never_more_than_one_step_up_nor_below_half(
    own: dict[int, Goodput], agents: int, landed: int, troubled: int, queued: bool
) -> None:
    advice = next_step(Past("docs", own), CurrentLimit(agents, landed, troubled, queued, 9))
    if advice:
        assert max(1, agents // 2) <= advice.agents <= min(9, agents + 1)
        assert advice.agents != agents


@pytest.mark.property
@given(evidence, st.integers(2, 9))
def test_more_conflicts_never_speak_for_a_number(own: dict[int, Goodput], agents: int) -> None:
    before = arms(Past("docs", own), 9)[agents].chance
    own.setdefault(agents, seen(0)).conflicts += 20
    assert arms(Past("docs", own), 9)[agents].chance <= before + 1e-9
