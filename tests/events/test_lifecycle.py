"""The table of moves: each row can happen, and nothing else can (W1, D4)."""

from copy import deepcopy

import pytest

from interlock.events import facts as f
from interlock.events.lifecycle import NEXT, Stage, next_stage
from interlock.model.task import Commit, Task, TaskId
from tests.events.journal import AGENT, Journal

A = TaskId("a")
SPEC = Task(A, "do a", AGENT)
KINDS = sorted(
    (kind for kind in f.kinds().values() if "task" in kind.__dataclass_fields__ or kind is f.TaskAccepted),
    key=lambda kind: kind.__name__,
)
OWN_RULES = {
    f.Paused,
    f.Unpaused,
    f.WorkspaceArchived,
    f.CandidateDropped,
    f.MessageSaid,
    f.MessageDelivered,
    f.PermissionAnswered,
    f.NotesSaved,
    f.TaskEstimated,
    f.LessonsOffered,
    f.NothingLearned,
    f.ScopeRequested,
    f.ScopeAnswered,
}
"""Facts that name a task and never move it between stages."""
MOVES = [(stage, kind) for stage in Stage for kind in KINDS if kind not in OWN_RULES]
IN_TABLE = [(stage, kind) for stage, kind in MOVES if next_stage(stage, kind)]
NOT_IN_TABLE = [(stage, kind) for stage, kind in MOVES if not next_stage(stage, kind)]


def at(stage: Stage) -> Journal:
    """A task in this stage, with a tested change that is ready to land."""
    journal = Journal(SPEC)
    journal.work("a", phases=2)
    if stage in (Stage.RUNNING, Stage.DONE):
        journal.start("a")
    if stage is Stage.DONE:
        journal.carry_on("a")
    ends = {
        Stage.FAILED: f.TaskFailed(A, 1, "no use"),
        Stage.CANCELLED: f.TaskCancelled(A),
        Stage.REMOVED: f.TaskRemoved(A),
    }
    if stage in ends:
        journal.tell(ends[stage])
    assert journal.task("a").stage is stage
    return journal


def fitting(journal: Journal, kind: type[f.Fact]) -> f.Fact:
    """A fact of this kind with nothing wrong about it but, perhaps, the moment."""
    task = journal.task("a")
    if kind is f.TaskAccepted:
        return f.TaskAccepted(SPEC)
    if kind is f.PhaseStarted:
        return f.PhaseStarted(A, task.attempt, task.phase.name, task.epoch + 1)
    if kind is f.TaskFailed:
        return f.TaskFailed(A, task.attempt, "no use")
    if kind is f.LandingLost:
        return f.LandingLost(A, Commit("a-1"))
    if issubclass(kind, f.PhaseFact):
        fact = kind(A, task.attempt, task.phase.name, task.epoch)
        return f.Landed(A, 1, "land", 0, commit=Commit("a-1")) if kind is f.Landed else fact
    return kind(A)  # type: ignore[call-arg]  # the rest are facts about a task with defaults for all else


@pytest.mark.parametrize(
    ("stage", "kind"), IN_TABLE, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_a_move_in_the_table_happens(stage: Stage, kind: type[f.Fact]) -> None:
    journal = at(stage)
    assert journal.tell(fitting(journal, kind)) == {A}
    expected = NEXT.get((stage, kind)) or next_stage(stage, kind)
    ends_pipeline = issubclass(kind, f.PhasePassed) and stage is Stage.RUNNING
    assert journal.task("a").stage is (Stage.DONE if ends_pipeline else expected)


@pytest.mark.parametrize(
    ("stage", "kind"), NOT_IN_TABLE, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_a_move_that_is_not_in_the_table_changes_nothing(stage: Stage, kind: type[f.Fact]) -> None:
    journal = at(stage)
    before = deepcopy(journal.task("a"))
    assert journal.tell(fitting(journal, kind)) == set()
    assert journal.task("a") == before


def test_every_row_of_the_table_is_tried() -> None:
    tried = {(stage, parent) for stage, kind in IN_TABLE for parent in kind.__mro__}
    assert set(NEXT) <= tried


def test_a_change_that_landed_is_done_whatever_a_person_said_meanwhile() -> None:
    journal = at(Stage.RUNNING)
    journal.tell(f.TaskCancelled(A), f.Landed(A, 1, "land", 0, commit=Commit("a-1")))
    assert journal.task("a").stage is Stage.DONE


def test_a_landing_that_is_lost_keeps_what_needs_it_from_starting_until_it_is_seen_again() -> None:
    journal = Journal(SPEC, Task(TaskId("b"), "do b", AGENT, needs=(A,)))
    journal.work("a", phases=3)
    assert (journal.task("a").stage, journal.task("b").unmet) == (Stage.DONE, 0)
    assert journal.tell(f.LandingLost(A, Commit("other"))) == set()
    journal.tell(f.LandingLost(A, Commit("a-1")))
    assert (journal.task("a").stage, journal.task("b").unmet) == (Stage.FAILED, 1)
    journal.tell(f.LandingSeen(A, Commit("a-1")))
    assert (journal.task("a").stage, journal.task("b").unmet) == (Stage.DONE, 0)


def test_a_landing_of_some_other_commit_is_not_believed() -> None:
    journal = at(Stage.RUNNING)
    task = journal.task("a")
    assert journal.tell(f.Landed(A, 1, "land", task.epoch, commit=Commit("other"))) == set()


def test_an_edit_of_the_graph_gives_a_failed_task_a_new_try_from_its_first_phase() -> None:
    journal = at(Stage.FAILED)
    journal.tell(f.TaskAccepted(SPEC))
    assert (journal.task("a").stage, journal.task("a").phase.name) == (Stage.WAITING, "implement")


def test_an_edit_of_a_running_task_does_not_make_it_look_younger() -> None:
    journal = at(Stage.RUNNING)
    since = journal.task("a").since
    journal.tell(f.TaskAccepted(SPEC))
    assert journal.task("a").since == since


def test_a_phase_that_goes_back_is_dated_from_then() -> None:
    journal = at(Stage.WAITING)
    journal.tell(f.TaskReset(A))
    assert journal.task("a").since == journal.time
