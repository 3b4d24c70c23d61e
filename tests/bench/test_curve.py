"""From when on two tasks are said to meet: the yardstick of footprints (D3)."""

from collections.abc import Callable
from random import Random
from statistics import stdev

import pytest

from bench.curve import Scored, best_by_curve, best_point

STEPS = [number / 20 for number in range(1, 41)]


@pytest.mark.parametrize("choose", [best_point, best_by_curve])
def test_what_meets_from_one_score_on_is_said_to_meet_from_there_on(
    choose: Callable[[Scored], float],
) -> None:
    assert choose([(score, score > 0.5) for score in STEPS]) == pytest.approx(0.55, abs=0.051)


def test_few_pairs_that_meet_by_chance_scatter_the_best_point_more_than_the_curve() -> None:
    dice = Random(1)
    samples = [[(score, dice.random() < score / (1 + score)) for score in STEPS * 3] for _ in range(30)]
    by_point, by_curve = ([choose(sample) for sample in samples] for choose in (best_point, best_by_curve))
    assert stdev(by_curve) < 0.7 * stdev(by_point)


def test_where_fewer_shared_paths_meet_more_often_the_best_point_is_all_there_is() -> None:
    upside_down = [(score, score < 0.5) for score in STEPS]
    assert best_by_curve(upside_down) == best_point(upside_down)


def test_pairs_without_a_shared_path_are_never_the_best_point() -> None:
    assert best_point([(0.0, True), (0.0, False), (0.4, True)]) == pytest.approx(0.4)
