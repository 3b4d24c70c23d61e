"""The fold: the same answer however the log is cut, and late news changes nothing (D4, W5, A1)."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.lifecycle import Stage
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State
from interlock.model.outcome import ErrorClass, Resume
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Commit, PhaseKind, Task, TaskId
from interlock.model.usage import Usage
from tests.events.journal import AGENT, Journal, Move, fact, failed, moves, passed, play

A, B, C = map(TaskId, "abc")
pytestmark = pytest.mark.slow


@pytest.mark.property
@given(moves, st.integers(0, 60))
def test_folding_in_parts_equals_folding_at_once(steps: list[Move], cut: int) -> None:
    journal = Journal()
    play(journal, steps)
    assert fold(journal.rows[cut:], fold(journal.rows[:cut])) == fold(journal.rows) == journal.state


@pytest.mark.property
@given(moves, st.integers(0, 60))
def test_going_on_from_a_snapshot_equals_never_having_stopped(steps: list[Move], cut: int) -> None:
    journal = Journal()
    play(journal, steps)
    part = fold(journal.rows[:cut])
    restored = unpack(pack(part), part.hash)
    assert restored == part
    resumed = fold(journal.rows[cut:], restored)
    assert resumed == journal.state
    assert list(resumed.index.train) == list(journal.state.index.train)


@pytest.mark.property
@given(moves)
def test_the_indexes_equal_what_a_look_at_every_task_finds(steps: list[Move]) -> None:
    journal = Journal()
    for move in steps:
        journal.tell(fact(journal, move))
        assert_indexes(journal.state)


def assert_indexes(state: State) -> None:
    tasks = state.tasks
    assert state.index.running == {name for name, task in tasks.items() if task.stage is Stage.RUNNING}
    assert state.index.reconcile == {name for name, task in tasks.items() if task.must_reconcile}
    assert state.index.train == {
        name: task.change.work.seq
        for name, task in tasks.items()
        if in_train(state, name) and task.change.work
    }
    assert list(state.index.train.values()) == sorted(state.index.train.values())  # the order of the queue
    for stage in Stage:
        assert state.index.counts.get(stage, 0) == sum(task.stage is stage for task in tasks.values())
    for name, task in tasks.items():
        assert task.queue.unmet == sum(
            n not in tasks or tasks[n].stage is not Stage.DONE for n in task.spec.needs
        )
        assert sorted(state.index.dependents.get(name, [])) == sorted(
            d for d in tasks if name in tasks[d].spec.needs
        )


def in_train(state: State, name: TaskId) -> bool:
    task = state.tasks[name]
    return not task.is_over and task.phase.kind is not PhaseKind.AGENT and task.change.work is not None


@pytest.mark.property
@given(moves)
def test_every_task_that_looks_different_is_reported_as_changed(steps: list[Move]) -> None:
    """Indexes such as the scheduler's rest on this."""
    journal = Journal()
    for move in steps:
        before = deepcopy(journal.state.tasks)
        changed = journal.tell(fact(journal, move))
        differing = {name for name, task in journal.state.tasks.items() if before.get(name) != task}
        assert differing <= changed


@pytest.mark.property
@given(
    moves, st.sampled_from([f.WorkFinished, f.CandidatePassed, f.PhaseFailed, f.PhaseLost, f.PhaseDeferred])
)
def test_a_result_from_an_older_epoch_changes_nothing(steps: list[Move], kind: type[f.PhaseFact]) -> None:
    journal = Journal()
    play(journal, steps)
    for name, task in journal.state.tasks.items():
        before = deepcopy(journal.state)
        assert journal.tell(kind(name, task.attempt, task.phase.name, task.epoch - 1)) == set()
        assert _without_position(journal.state) == _without_position(before)


def _without_position(state: State) -> State:
    return replace(state, seq=0, time=0.0, hash="")


@pytest.mark.property
@given(moves)
def test_a_phase_fact_that_is_delivered_twice_counts_once(steps: list[Move]) -> None:
    once, twice = Journal(), Journal()
    for move in steps:
        told = fact(once, move)
        once.tell(told)
        twice.tell(told)
        if isinstance(told, f.PhaseFact):
            seq, time = twice.state.seq, twice.time
            twice.tell(told)
            twice.state.seq, twice.time = seq, time
    assert _without_position(once.state) == _without_position(twice.state)


def test_a_task_is_free_when_its_last_need_has_landed() -> None:
    journal = Journal(Task(A, "", AGENT), Task(B, "", AGENT), Task(C, "", AGENT, needs=(A, B)))
    journal.work("a")
    assert journal.task("c").queue.unmet == 1
    journal.work("b", phases=2)
    journal.start("b")
    assert journal.carry_on("b") == {B, C}
    assert (journal.task("c").queue.unmet, journal.task("c").queue.ready_since) == (0, journal.time)


def test_a_failure_goes_back_with_what_was_learned_and_waits_its_time() -> None:
    journal = Journal(Task(A, "", AGENT))
    journal.work("a", phases=1)
    journal.start("a")
    journal.tell(failed(journal.task("a"), "red", retry_after_seconds=10))
    task = journal.task("a")
    assert (task.phase.name, task.queue.not_before, task.trouble.failures[0].fingerprint) == (
        "implement",
        journal.time + 10,
        "red",
    )
    assert journal.state.index.train == {}


def test_a_retry_by_a_person_keeps_the_lesson_but_not_the_strike() -> None:
    journal = Journal(Task(A, "", AGENT))
    journal.start("a")
    journal.tell(
        failed(journal.task("a"), "same"), f.TaskFailed(A, 1, said("enough")), f.TaskRetried(A, "try harder")
    )
    task = journal.task("a")
    assert (task.trouble.failures[0].why, task.trouble.failures[0].fingerprint, task.talk.notes) == (
        said("exit 1"),
        "",
        "try harder",
    )


def test_a_snapshot_of_another_log_or_of_garbage_is_not_used() -> None:
    journal = Journal(Task(A, "", AGENT))
    assert unpack(pack(journal.state), "f" * 64) is None
    assert unpack(b"{broken", journal.state.hash) is None


def test_work_that_is_redone_joins_the_queue_again_at_its_end() -> None:
    journal = Journal(Task(A, "", AGENT), Task(B, "", AGENT))
    journal.work("a", phases=1)
    journal.work("b", phases=1)
    journal.start("a")
    journal.tell(failed(journal.task("a")))
    journal.start("a")
    journal.tell(passed(journal.task("a")))
    assert list(journal.state.index.train) == [B, A]


def test_a_change_on_its_way_to_main_cannot_be_dropped_by_an_old_lookup() -> None:
    journal = Journal(Task(A, "", AGENT))
    journal.work("a", phases=2)
    candidate = journal.task("a").change.candidate
    assert candidate and journal.tell(f.CandidateDropped(A, candidate.commit)) == set()
    assert journal.task("a").change.candidate == candidate


def opened(journal: Journal, session: str = "s") -> None:
    task = journal.task("a")
    key = (task.spec.id, task.attempt, task.phase.name, task.epoch)
    journal.tell(f.SessionOpened(*key, session=session, use="claude-code", base=Commit("old-main")))


def ended(journal: Journal, kind: type[f.PhaseFact], **more: object) -> None:
    task = journal.task("a")
    journal.tell(kind(task.spec.id, task.attempt, task.phase.name, task.epoch, **more))


@pytest.mark.parametrize("kind", [f.PhaseLost, f.PhaseDeferred])
def test_a_session_whose_holder_is_gone_can_go_on_from_its_base(kind: type[f.PhaseFact]) -> None:
    """D10: what was cut off is known by its own name, its files and what it started from."""
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    opened(journal)
    opened(journal, "its own name")
    ended(journal, kind, archived="refs/kept")
    assert journal.task("a").session.cut_off == Resume(1, "its own name", Commit("old-main"), "refs/kept")


def test_a_session_that_had_its_say_is_not_resumed() -> None:
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    opened(journal)
    ended(journal, f.PhaseLost)
    journal.start("a")
    ended(journal, f.PhaseFailed, error=ErrorClass.EXIT)
    assert journal.task("a").session.cut_off is None


def test_an_attempt_that_never_had_a_session_leaves_none_to_resume() -> None:
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    ended(journal, f.PhaseLost)
    assert journal.task("a").session.cut_off is None


def test_what_all_attempts_used_adds_up() -> None:
    """Also of those that failed."""
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    ended(journal, f.PhaseFailed, usage=Usage(1000, 50, 10, 1, 0.25))
    journal.start("a")
    ended(journal, f.WorkFinished, usage=Usage(2000, 70, 0, 2))
    assert journal.task("a").spent.usage == Usage(3000, 120, 10, 3, 0.25, unpriced_tokens=2070)


@pytest.mark.parametrize("given_up", [f.TaskCancelled, f.TaskRemoved])
def test_an_agent_that_starts_just_after_its_task_was_given_up_holds_its_place_until_it_is_ended(
    given_up: type[f.TaskCancelled | f.TaskRemoved],
) -> None:
    """K4, D4: the start was decided before; nobody may take what that agent still works on."""
    journal = Journal(Task(A, "do a", AGENT))
    journal.tell(given_up(A))
    journal.tell(f.PhaseStarted(A, 1, "implement", 1, "x"))
    task = journal.task("a")
    assert (task.is_over, task.session.leftover, A in journal.state.index.leftovers) == (True, 1, True)
    journal.tell(f.WorkspaceArchived(A, 1, "refs/x"))
    assert (task.session.leftover, A in journal.state.index.leftovers) == (0, False)


def test_an_answer_counts_for_the_attempt_that_asked_and_says_why_the_task_goes_on() -> None:
    journal = Journal(Task(A, "do a", AGENT))
    journal.start("a")
    ended(journal, f.QuestionAsked, text="Strings, too?", session="s1")
    journal.tell(f.QuestionAnswered(A, 2, "no"))
    assert journal.task("a").asks
    assert journal.task("a").why == Reason(Why.QUESTION_ASKED)
    journal.tell(f.QuestionAnswered(A, 1, "yes"))
    assert journal.task("a").asks is None
    assert journal.task("a").why == Reason(Why.QUESTION_ANSWERED)
    assert [question.answer for question in journal.task("a").talk.questions] == ["yes"]
