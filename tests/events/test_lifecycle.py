"""The table of moves: each row can happen, and nothing else can (W1, D4)."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.asked import Question
from interlock.events.lifecycle import Destination, Stage, next_move
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.events.task_parts import OpenPullRequest, Review
from interlock.model.evidence import UNCHECKED
from interlock.model.reason import said
from interlock.model.task import PIPELINE, Commit, PhaseKind, Task, TaskId, Tree
from tests.events.hostile import Villain
from tests.events.journal import AGENT, Journal, Move, fact, moves

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
    f.ProposalDeclined,
    f.NotesSaved,
    f.TaskEstimated,
    f.LessonsOffered,
    f.NothingLearned,
    f.ScopeRequested,
    f.ScopeAnswered,
    f.RevertPrepared,
    f.Bumped,
    f.BudgetRaised,
}
"""Facts that name a task and never move it between stages."""
PHASES = range(len(PIPELINE))
ALL = [(stage, index, kind) for stage in Stage for index in PHASES for kind in KINDS if kind not in OWN_RULES]


def place(stage: Stage, index: int, kind: type[f.Fact]) -> Destination | None:
    return next_move(stage, PIPELINE, index, kind)


IN_TABLE = [each for each in ALL if place(*each)]
NOT_IN_TABLE = [each for each in ALL if not place(*each)]


def named(value: object) -> str:
    return getattr(value, "__name__", str(value))


def at(stage: Stage, index: int) -> Journal:
    """A task in this stage and phase. It has a commit that may be on main, and has asked where it can."""
    journal = Journal(SPEC)
    journal.work("a", phases=2)
    if stage is Stage.DONE:
        journal.work("a", phases=1)
        journal.task("a").phase_index = index
        return journal
    candidate = journal.task("a").change.candidate
    if index < 2:
        journal.tell(f.TaskReset(A))
        journal.work("a", phases=index)
    journal.task("a").change.candidate = candidate
    ends = {
        Stage.FAILED: f.TaskFailed(A, 1, said("no use")),
        Stage.CANCELLED: f.TaskCancelled(A),
        Stage.REMOVED: f.TaskRemoved(A),
    }
    if stage is Stage.RUNNING:
        journal.start("a")
    if stage in (Stage.RUNNING, Stage.WAITING):
        journal.task("a").change.review = Review("", Commit(""), Commit(""), Commit("a-1"), None, 0.0)
    if stage in ends:
        journal.tell(ends[stage])
    if stage is Stage.WAITING:
        journal.task("a").talk.questions = [Question(journal.task("a").attempt, "which one?")]
        journal.task("a").change.pull_request = (
            OpenPullRequest(12, "", candidate.commit) if candidate else None
        )
    assert (journal.task("a").stage, journal.task("a").phase_index) == (stage, index)
    return journal


def fitting(journal: Journal, kind: type[f.Fact]) -> f.Fact:
    """A fact of this kind with nothing wrong about it but, perhaps, the moment."""
    task = journal.task("a")
    where = (A, task.attempt, task.phase.name, task.epoch)
    special: dict[type[f.Fact], f.Fact] = {
        f.TaskAccepted: f.TaskAccepted(SPEC),
        f.PhaseStarted: f.PhaseStarted(*where[:3], task.epoch + 1),
        f.TaskFailed: f.TaskFailed(A, task.attempt, said("no use")),
        f.QuestionAnswered: f.QuestionAnswered(A, task.attempt, "this one"),
        f.PullRequestSeen: f.PullRequestSeen(A, 12, "draft"),
        f.ReviewReceived: f.ReviewReceived(A, 12, "grace", "better"),
        f.LandingLost: f.LandingLost(A, Commit("a-1")),
        f.TaskUndone: f.TaskUndone(A, Commit("a-1"), TaskId("undo-a")),
        f.TaskReopened: f.TaskReopened(A, Commit("a-1"), TaskId("undo-a")),
        f.Landed: f.Landed(A, 1, "land", 0, commit=Commit("a-1")),
    }
    if kind in special:
        return special[kind]
    if issubclass(kind, f.PhaseFact):
        return kind(*where)
    return kind(A)  # type: ignore[call-arg]  # the rest are facts about a task with defaults for all else


@pytest.mark.parametrize(("stage", "index", "kind"), IN_TABLE, ids=named)
def test_a_move_in_the_table_happens(stage: Stage, index: int, kind: type[f.Fact]) -> None:
    journal = at(stage, index)
    expected = place(stage, index, kind)
    assert journal.tell(fitting(journal, kind)) == {A}
    task = journal.task("a")
    assert expected and (task.stage, task.phase_index) == expected[:2]
    assert not expected.begins or task.since == task.queue.ready_since == journal.time


@pytest.mark.parametrize(("stage", "index", "kind"), NOT_IN_TABLE, ids=named)
def test_a_move_that_is_not_in_the_table_changes_nothing(
    stage: Stage, index: int, kind: type[f.Fact]
) -> None:
    journal = at(stage, index)
    before = deepcopy(journal.task("a"))
    found = journal.tell(fitting(journal, kind))
    if kind is f.PhaseStarted and before.is_over and before.phase.kind is PhaseKind.AGENT:
        assert journal.task("a").session.leftover  # an agent that is not wanted is noted, and ended
        assert (journal.task("a").stage, journal.task("a").phase_index) == (stage, index)
        return
    assert (found, journal.task("a")) == (set(), before)


def places(state: State) -> dict[TaskId, tuple[Stage, int]]:
    return {name: (task.stage, task.phase_index) for name, task in state.tasks.items()}


def only_moves_of_the_table(before: State, row: Recorded, after: State) -> None:
    """Every change of a stage or phase is the one that the table has for this fact about this task."""
    fact, was, now = row.fact, places(before), places(after)
    for name in now.keys() - was.keys():
        assert isinstance(fact, f.TaskAccepted) and now[name] == (Stage.WAITING, 0)
    for name in [name for name in was if was[name] != now[name]]:
        about = fact.task.id if isinstance(fact, f.TaskAccepted) else getattr(fact, "task", None)
        pipeline = after.tasks[name].spec.pipeline
        found = next_move(was[name][0], pipeline, was[name][1], type(fact))
        assert about == name and found and found[:2] == now[name], (fact, was[name], now[name])


@pytest.mark.property
@given(moves)
def test_random_facts_move_tasks_only_as_the_table_says(steps: list[Move]) -> None:
    journal = Journal()
    for step in steps:
        before = deepcopy(journal.state)
        journal.tell(fact(journal, step), after=1.0)
        only_moves_of_the_table(before, journal.rows[-1], journal.state)


@pytest.mark.slow
@pytest.mark.property
@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_facts_that_no_honest_program_writes_move_tasks_only_as_the_table_says(seed: int) -> None:
    villain = Villain(seed)
    for _ in range(60):
        before = deepcopy(villain.state)
        only_moves_of_the_table(before, villain.tell(), villain.state)


def test_a_change_that_landed_is_done_whatever_a_person_said_meanwhile() -> None:
    journal = at(Stage.RUNNING, 2)
    journal.tell(f.TaskCancelled(A), f.Landed(A, 1, "land", 0, commit=Commit("a-1")))
    assert journal.task("a").stage is Stage.DONE


def test_a_landing_that_is_lost_keeps_what_needs_it_from_starting_until_it_is_seen_again() -> None:
    journal = Journal(SPEC, Task(TaskId("b"), "do b", AGENT, needs=(A,)))
    journal.work("a", phases=3)
    assert (journal.task("a").stage, journal.task("b").queue.unmet) == (Stage.DONE, 0)
    assert journal.tell(f.LandingLost(A, Commit("other"))) == set()
    journal.tell(f.LandingLost(A, Commit("a-1")))
    assert (journal.task("a").stage, journal.task("b").queue.unmet) == (Stage.FAILED, 1)
    journal.tell(f.LandingSeen(A, Commit("a-1")))
    assert (journal.task("a").stage, journal.task("b").queue.unmet) == (Stage.DONE, 0)


@pytest.mark.parametrize(("tree", "is_kept"), [("tree-a-1", True), ("another", False), ("", False)])
def test_a_rebased_landing_keeps_its_evidence_if_its_tree_is_the_same(tree: str, is_kept: bool) -> None:
    journal = Journal(SPEC)
    journal.work("a", phases=2)
    before = journal.task("a").change.candidate
    assert before and before.evidence != UNCHECKED
    journal.start("a")
    epoch = journal.task("a").epoch
    journal.tell(f.Landed(A, 1, "land", epoch, commit=Commit("a-1"), tree=Tree("tree-a-1")))
    new = Commit("a-rebased")
    journal.tell(f.LandingLost(A, Commit("a-1"), now=new), f.LandingSeen(A, new, Commit("up"), Tree(tree)))
    landed = journal.task("a").change.landed
    assert landed and (landed.commit, landed.base, landed.tree) == ("a-rebased", "up", tree)
    assert landed.evidence == (before.evidence if is_kept else UNCHECKED)


def test_a_landing_of_some_other_commit_is_not_believed() -> None:
    journal = at(Stage.RUNNING, 2)
    task = journal.task("a")
    assert journal.tell(f.Landed(A, 1, "land", task.epoch, commit=Commit("other"))) == set()


def test_an_edit_of_the_graph_gives_a_failed_task_a_new_try_from_its_first_phase() -> None:
    journal = at(Stage.FAILED, 2)
    journal.tell(f.TaskAccepted(SPEC))
    assert (journal.task("a").stage, journal.task("a").phase.name) == (Stage.WAITING, "implement")


def test_an_edit_of_a_running_task_does_not_make_it_look_younger() -> None:
    journal = at(Stage.RUNNING, 2)
    since = journal.task("a").since
    journal.tell(f.TaskAccepted(SPEC))
    assert journal.task("a").since == since


def test_a_phase_that_goes_back_is_dated_from_then() -> None:
    journal = at(Stage.WAITING, 2)
    journal.tell(f.TaskReset(A))
    assert journal.task("a").since == journal.time
