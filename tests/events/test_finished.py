"""Tasks that were done long ago: out of the way, and the same as ever when a fact or a reader wants them."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given

from interlock.engine.decide import decide
from interlock.events import facts as f
from interlock.events.finished import recall_all
from interlock.events.fold import apply, fold
from interlock.events.lifecycle import Stage
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State
from interlock.model.task import Commit, Task, TaskId, Tree
from interlock.schedule import Board
from tests.events.journal import AGENT, NAMES, Journal, Move, fact, moves, spec

A, B, C = map(TaskId, "abc")


@pytest.mark.property
@given(moves)
def test_a_state_that_keeps_few_done_tasks_decides_like_one_that_keeps_all(steps: list[Move]) -> None:
    journal, whole, small = Journal(), State(), State(kept=1)
    board, small_board = Board(whole), Board(small)
    told = 0
    journal.tell(*(f.TaskAccepted(spec(name, 4 + at)) for at, name in enumerate(NAMES)))
    journal.run()
    for move in steps:
        _tell(journal, move)
        for row in journal.rows[told:]:
            told = row.seq
            board.update(apply(whole, row))
            small_board.update(apply(small, row))
            now = row.time + 1
            assert decide(small, small_board, now, {}) == decide(whole, board, now, {})
            assert decide(small, Board(small), now, {}) == decide(small, small_board, now, {})
    again = unpack(pack(small), small.hash)
    assert again == small
    assert _comparable(recall_all(again)) == _comparable(whole)


def _tell(journal: Journal, move: Move) -> None:
    """One fact, a task from its start to its end, or another run."""
    kind, at, _ = move
    task = journal.state.tasks.get(NAMES[at])
    if kind % 3 == 0 and task and task.stage is Stage.WAITING and not task.queue.unmet:
        journal.work(NAMES[at], phases=3 - task.phase_index)
    elif kind % 5 == 0:
        journal.run()
    else:
        journal.tell(fact(journal, move))


def _comparable(state: State) -> State:
    needed_by = {name: sorted(names) for name, names in state.dependents.items()}
    # A run drops old results of checks that no task in `tasks` asks for.
    return replace(state, kept=1, sample=b"", recent={}, dependents=needed_by, baselines={})


def test_the_current_run_keeps_ten_times_as_many_of_its_own() -> None:
    journal = Journal(*(Task(TaskId(f"t{n}"), "", AGENT) for n in range(12)))
    journal.state.kept = 1
    journal.run()
    for n in range(12):
        journal.work(f"t{n}")
    assert list(journal.state.finished) == ["t0", "t1"]
    journal.run()
    journal.tell(f.MainSeen("main", Commit("m"), Tree("t")))
    assert list(journal.state.recent) == ["t11"]
    assert len(journal.state.finished) == 11
    assert journal.state.counts[Stage.DONE] == 12


def test_a_landing_that_is_lost_brings_a_finished_task_back_and_holds_up_what_needs_it() -> None:
    journal = Journal(
        Task(A, "make a", AGENT), Task(B, "", AGENT, needs=(A,)), Task(C, "", AGENT, needs=(A,))
    )
    journal.state.kept = 0
    journal.run()
    whole = deepcopy(fold(journal.rows))
    for _ in range(2):
        journal.start("a")
        journal.carry_on("a")
    journal.start("a")
    assert journal.carry_on("a") == {A, B, C}
    assert A in journal.tell(f.MainSeen("main", Commit("a-1"), Tree("t")))
    assert A not in journal.state.tasks
    assert (journal.task("b").queue.unmet, journal.state.finished[A].commit) == (0, "a-1")
    assert journal.tell(f.LandingLost(A, Commit("a-1"))) == {A, B, C}
    assert not journal.state.finished
    assert (journal.task("a").stage, journal.task("a").spec.goal) == (Stage.FAILED, "make a")
    assert (journal.task("b").queue.unmet, journal.task("c").queue.unmet) == (1, 1)
    whole = fold(journal.rows[whole.seq :], whole)
    assert journal.state.tasks == whole.tasks
