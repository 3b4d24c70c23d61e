"""What an attempt may come to, as distributions to draw from (A8)."""

import pytest

from interlock.learn.prospects import Amount, Prospect


def known(success: float, evidence: float) -> Prospect:
    return Prospect("docs/coder", Amount(60.0), success, Amount(0.0), None, evidence)


def test_how_often_attempts_land_is_less_certain_the_fewer_there_were() -> None:
    few, many = known(0.7, 2), known(0.7, 200)
    assert few.success_at(0.0) == many.success_at(0.0) == pytest.approx(0.7)
    assert few.success_at(-1.0) < many.success_at(-1.0) < 0.7 < many.success_at(1.0) < few.success_at(1.0)


@pytest.mark.parametrize("draw", [-5.0, 5.0])
def test_a_chance_stays_one(draw: float) -> None:
    assert 0.0 < known(0.5, 0).success_at(draw) <= 1.0


def test_what_a_kind_has_in_common_moves_all_its_tasks_and_the_rest_does_not() -> None:
    together, apart = Amount(10.0, 0.5, 1.0), Amount(10.0, 0.5, 0.0)
    assert together.at(2.0, 0.0) == apart.at(0.0, 2.0) == pytest.approx(10.0)
    assert together.at(0.0, 1.0) == apart.at(1.0, 0.0) > 10.0
