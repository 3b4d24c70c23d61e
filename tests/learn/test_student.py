"""Quantiles against printed tables; nothing else in the forecasts can be right if these are not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.learn.student import beta_below, t_below, t_quantile


@pytest.mark.parametrize(
    ("probability", "freedom", "value"),
    [
        (0.75, 1, 1.0),
        (0.9, 1, 3.0776835),
        (0.975, 1, 12.7062047),
        (0.9, 2, 1.8856181),
        (0.9, 4, 1.5332063),
        (0.95, 5, 2.0150484),
        (0.9, 10, 1.3721836),
        (0.975, 10, 2.2281389),
        (0.9, 30, 1.3104150),
        (0.99, 120, 2.3578249),
        (0.9, 1e7, 1.2815516),
        (0.5, 3, 0.0),
        (0.1, 4, -1.5332063),
    ],
)
def test_quantiles_of_t_are_those_of_the_tables(probability: float, freedom: float, value: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(value, abs=2e-6)


def test_the_incomplete_beta_is_what_it_is_known_to_be() -> None:
    assert beta_below(0.3, 1, 1) == pytest.approx(0.3)
    assert beta_below(0.5, 4.2, 4.2) == pytest.approx(0.5)
    assert beta_below(0.2, 2, 3) == pytest.approx(0.1808)
    assert beta_below(0.25, 0.5, 0.5) == pytest.approx(2 / math.pi * math.asin(0.5))
    assert (beta_below(0, 2, 2), beta_below(1, 2, 2)) == (0, 1)


@pytest.mark.property
@given(st.floats(0.501, 0.999), st.floats(0.5, 500))
def test_a_quantile_is_where_the_probability_is(probability: float, freedom: float) -> None:
    assert t_below(t_quantile(probability, freedom), freedom) == pytest.approx(probability, abs=1e-8)


@pytest.mark.property
@given(st.floats(0.6, 0.99), st.floats(1, 100))
def test_the_less_is_known_the_further_out_it_lies(probability: float, freedom: float) -> None:
    assert t_quantile(probability, freedom) > t_quantile(probability, freedom * 1.5)
