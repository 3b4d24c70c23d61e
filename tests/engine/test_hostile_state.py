"""Whatever a log adds up to, everything that is worked out from it comes to an answer (issue 10, item 4).

The night run folds `INTERLOCK_HOSTILE_FACTS` facts, in logs from the seed `INTERLOCK_HOSTILE_SEED` on.
"""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.engine.clutch import Clutch, category_views
from interlock.engine.decide import decide
from interlock.engine.foresight import Terms, foresee, planned, remaining_seconds
from interlock.engine.host import IdleHost
from interlock.engine.options import Options
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.record import Recorded, decode, encode
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State
from interlock.events.state_parts import DoneTasks
from interlock.learn.drift import drift_of
from interlock.learn.errors import Errors, alike
from interlock.learn.estimate import Estimator, differs
from interlock.learn.lessons import offer
from interlock.learn.meter import Meter
from interlock.learn.past import past_runs
from interlock.learn.usefulness import retirements
from interlock.model.forecast import Forecast
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.ui.words.reasons import reason_text
from tests.events.hostile import Villain
from tests.tiers import examples

ROWS, FACTS = 200, int(os.environ.get("INTERLOCK_HOSTILE_FACTS", "1_000_000"))
SEED = int(os.environ.get("INTERLOCK_HOSTILE_SEED", "0"))
WORKED_OUT_EVERY = 10
"""Logs: to foresee the rest of a run from one of them takes ten times as long as to fold it."""
pytestmark = pytest.mark.slow


def worked_out(state: State, rows: list[Recorded], now: float) -> None:
    """Ask everything that decides, foresees or learns."""
    board = Board(state, now)
    board.update(state.tasks)
    steps = decide(state, board, now, {})
    assert len({step.task for step in steps}) == len(steps)
    for name in state.tasks:
        assert reason_text(board.reason(name, now))
        offer(state, state.tasks[name], 1)
    board.next_wakeup(now)
    made: list[f.Fact] = [*Clutch(IdleHost(), Options(auto=True)).ask(state, now), *retirements(state)]
    made += [f.TaskEstimated(name, forecast) for name, forecast in _forecasts(state)]
    assert all(decode(*encode(fact)) for fact in made)
    list(category_views(state))
    remaining_seconds(state, now)
    foresee(planned(state, []), Terms(now, 2))
    list(map(drift_of, state.tasks.values()))
    alike(state)
    _looked_back(state, rows)
    assert unpack(pack(state), state.hash) == state


def _forecasts(state: State) -> list[tuple[TaskId, Forecast]]:
    estimator = Estimator(state)
    found = [(name, estimator.forecast(task.spec)) for name, task in state.tasks.items()]
    assert all(differs(forecast, state.tasks[name].forecast) in (True, False) for name, forecast in found)
    return found


def _looked_back(state: State, rows: list[Recorded]) -> None:
    past_runs(rows)
    errors, meter, again = Errors(state), Meter(0.0), State(done=DoneTasks(kept=state.done.kept))
    for row in rows:
        errors.add(row)
        meter = meter.after(row, again, apply(again, row))
    errors.troubles()
    meter.figures(3, 3)
    assert again == state


def told(seed: int) -> tuple[Villain, list[Recorded]]:
    """A log, folded as it was written; with every other seed a task is packed as soon as it is done."""
    villain = Villain(seed, seed % 2 * 100)
    return villain, [villain.tell() for _ in range(ROWS)]


@pytest.mark.property
@examples(0.2)
@given(st.integers(0, 2**32))
def test_everything_is_worked_out_from_whatever_a_log_holds(seed: int) -> None:
    villain, log = told(seed)
    worked_out(villain.state, log, villain.state.time)


@pytest.mark.night
@pytest.mark.property
def test_a_million_hostile_facts_are_folded_and_worked_with() -> None:
    for number in range(FACTS // ROWS):
        villain, log = told(SEED + number)
        if number % WORKED_OUT_EVERY == 0:
            worked_out(villain.state, log, villain.state.time)
