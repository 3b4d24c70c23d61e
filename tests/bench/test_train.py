"""The benchmark of the train notices what it is to notice."""

import pytest

from bench.changes import Cell, History
from bench.drain import Train
from bench.train import policies
from bench.trains import Ours

CELL = Cell(bad=0.2, hot=0.8, slots=4, flakes=0.03)


class Blind(Train):
    """A train that takes every build for green."""

    def _judge(self, at: int) -> bool:
        self.known = dict.fromkeys(self.known, True)
        return super()._judge(at)


def test_a_red_tree_that_lands_is_counted() -> None:
    train = Blind(History(CELL, 0, 30), Ours(inputs=True))
    train.drain()
    assert train.history.red_landings(train.landings)


def test_two_changes_that_clash_are_red_only_together() -> None:
    history = History(CELL, 0)
    change = next(each for each in history.changes.values() if each.clash and not each.is_bad)
    clash = change.clash
    assert clash is not None
    assert not history.is_green({change.task, clash})
    assert history.is_green({change.task})


@pytest.mark.parametrize("name", policies(slots=2))
def test_every_policy_drains_and_lands_only_green_trees(name: str) -> None:
    train = Train(History(Cell(0.2, 0.8, 2, 0.03), 1, 30), policies(slots=2)[name]())
    train.drain()
    assert train.main
    assert not train.history.red_landings(train.landings)
