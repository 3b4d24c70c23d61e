"""Big work is done without looking for garbage, and afterwards all is as it was."""

import gc

import pytest

from interlock.model.garbage import nothing_is_garbage
from interlock.plan import GraphProblems, parse


def test_nobody_looks_for_garbage_meanwhile_and_afterwards_somebody_does_again() -> None:
    with nothing_is_garbage():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_who_had_switched_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with nothing_is_garbage():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_graph_that_is_refused_leaves_it_on() -> None:
    with pytest.raises(GraphProblems):
        parse("version: 2\n", "task-graph.yaml")
    assert gc.isenabled()
