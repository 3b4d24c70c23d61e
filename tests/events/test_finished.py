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
from interlock.events.limits import REASONS, within_limits
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State
from interlock.events.state_parts import DoneTasks
from interlock.model.numbers import MOST
from interlock.model.reason import Reason
from interlock.model.task import Commit, Task, TaskId, Tree
from interlock.schedule import Board
from tests.events.journal import AGENT, NAMES, Journal, Move, fact, moves, spec

A, B, C = map(TaskId, "abc")


@pytest.mark.property
@given(moves)
def test_a_state_that_keeps_few_done_tasks_decides_like_one_that_keeps_all(steps: list[Move]) -> None:
    journal, whole, small = Journal(), State(), State(done=DoneTasks(kept=1))
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
    needed_by = {name: sorted(names) for name, names in state.index.dependents.items()}
    # A run drops old results of checks that no task in `tasks` asks for.
    return replace(
        state,
        done=DoneTasks(state.done.packed, kept=1),
        index=replace(state.index, dependents=needed_by),
        checks=replace(state.checks, baselines={}),
    )


def test_the_current_run_keeps_ten_times_as_many_of_its_own() -> None:
    journal = Journal(*(Task(TaskId(f"t{n}"), "", AGENT) for n in range(12)))
    journal.state.done.kept = 1
    journal.run()
    for n in range(12):
        journal.work(f"t{n}")
    assert list(journal.state.done.packed) == ["t0", "t1"]
    journal.run()
    journal.tell(f.MainSeen("main", Commit("m"), Tree("t")))
    assert list(journal.state.done.recent) == ["t11"]
    assert len(journal.state.done.packed) == 11
    assert journal.state.index.counts[Stage.DONE] == 12


def test_a_landing_that_is_lost_brings_a_finished_task_back_and_holds_up_what_needs_it() -> None:
    journal = Journal(
        Task(A, "make a", AGENT), Task(B, "", AGENT, needs=(A,)), Task(C, "", AGENT, needs=(A,))
    )
    journal.state.done.kept = 0
    journal.run()
    whole = deepcopy(fold(journal.rows))
    for _ in range(2):
        journal.start("a")
        journal.carry_on("a")
    journal.start("a")
    assert journal.carry_on("a") == {A, B, C}
    assert A in journal.tell(f.MainSeen("main", Commit("a-1"), Tree("t")))
    assert A not in journal.state.tasks
    assert (journal.task("b").queue.unmet, journal.state.done.packed[A].commit) == (0, "a-1")
    assert journal.tell(f.LandingLost(A, Commit("a-1"))) == {A, B, C}
    assert not journal.state.done.packed
    assert (journal.task("a").stage, journal.task("a").spec.goal) == (Stage.FAILED, "make a")
    assert (journal.task("b").queue.unmet, journal.task("c").queue.unmet) == (1, 1)
    whole = fold(journal.rows[whole.seq :], whole)
    assert journal.state.tasks == whole.tasks


def test_a_late_message_about_a_finished_task_is_seen_by_the_schedule() -> None:
    """It brings the task back, so an index of all tasks has to know."""
    journal = Journal(Task(A, "", AGENT), Task(B, "", AGENT), Task(C, "", AGENT, needs=(A,)))
    journal.state.done.kept = 1
    journal.run()
    for name in "ab":
        journal.work(name)
    journal.run()
    journal.tell(f.MainSeen("main", Commit("m"), Tree("t")))
    assert A in journal.state.done.packed
    board = Board(journal.state)
    board.update(journal.tell(f.MessageSaid(A, "hello")))
    board.update(journal.tell(f.TaskAccepted(Task(C, "", AGENT, needs=(A,), estimate_seconds=9.0))))
    assert decide(journal.state, board, 9.0, {}) == decide(journal.state, Board(journal.state), 9.0, {})


@pytest.mark.parametrize("number", [2**64, -(2**64), 1e300])
def test_numbers_and_depth_of_a_reason_have_limits(number: float) -> None:
    """Packed records hold no number of more than 64 bits, and no reader follows causes without end."""
    reason = Reason("x", {"n": number, "is": True})
    for _ in range(400):
        reason = Reason("y", {"cause": reason, "n": 1})
    kept = within_limits(f.TaskFailed(A, 1, reason))
    assert isinstance(kept, f.TaskFailed)
    depth, last = 0, kept.why
    while last:
        depth, last = depth + 1, last.cause
    assert depth == REASONS
    small = within_limits(f.TaskFailed(A, 1, Reason("x", {"n": number, "is": True})))
    assert isinstance(small, f.TaskFailed) and small.why
    assert small.why.fields["n"] in (MOST, -MOST) and small.why.fields["is"] is True
