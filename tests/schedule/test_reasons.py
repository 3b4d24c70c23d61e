"""Every task has a reason (D9), and it is the one that matters."""

import pytest

from interlock.events import facts as f
from interlock.model.reason import Why, said
from interlock.model.task import TaskId
from interlock.ui.words.reasons import reason_text
from tests.events.journal import failed
from tests.schedule.test_board import Floor, task

A, B, C = map(TaskId, "abc")


def reason(floor: Floor, name: str) -> tuple[str, str]:
    found = floor.board.reason(TaskId(name), floor.journal.time)
    return found.code, reason_text(found)


def test_a_task_that_waits_for_others_names_them() -> None:
    floor = Floor(task("a"), task("b"), task("c", needs=(A, B)))
    floor.start("a")
    assert reason(floor, "c") == (Why.NEEDS, "waits for a (running), b (waiting)")


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (f.TaskFailed(A, 1, said("same failure twice")), "blocked by a: it failed (same failure twice)"),
        (f.TaskCancelled(A), "blocked by a: it was cancelled"),
        (f.TaskRemoved(A), "blocked by a: it was removed"),
        (f.RunStarted("r", "h", 2, 3, (B, C)), "blocked by a: it is not part of this run"),
    ],
)
def test_a_need_that_will_never_land_is_named_through_any_number_of_tasks(end: f.Fact, text: str) -> None:
    floor = Floor(task("a"), task("b", needs=(A,)), task("c", needs=(B,)))
    floor.tell(end)
    assert reason(floor, "b") == (Why.NEEDS_FAILED, text)
    why, through = reason(floor, "c")
    assert (why, through) == (Why.NEEDS_FAILED, text.replace("a:", "a (required by its needs):", 1))


def test_a_need_that_does_not_exist_is_named() -> None:
    floor = Floor(task("b", needs=(A,)))
    assert reason(floor, "b") == (Why.NEEDS_FAILED, "blocked by a: there is no such task")


def test_when_all_slots_are_taken_it_says_by_whom() -> None:
    floor = Floor(task("a"), task("b"), slots=1)
    floor.start("a")
    assert reason(floor, "b") == (Why.SLOTS, "the one slot is taken, by a")


def test_a_lease_names_its_holder() -> None:
    floor = Floor(task("a", uses=("db",)), task("b", uses=("db",)))
    floor.start("a")
    assert reason(floor, "b") == (Why.LEASE, "wants db (uses), held by a")


def test_an_overlap_names_the_path_and_the_other_task() -> None:
    floor = Floor(task("a", touches=("src/**",)), task("b", touches=("src/x",), estimate_seconds=9_000))
    floor.start("a")
    assert reason(floor, "b") == (
        Why.OVERLAP,
        "would edit src/x together with a; waiting costs less than redoing it",
    )


def test_pauses_name_what_was_paused() -> None:
    floor = Floor(task("a"), task("b"))
    floor.tell(f.Paused(A), f.Paused(None, "lunch"))
    assert reason(floor, "a") == (Why.PAUSED, "a person paused this task")
    assert reason(floor, "b") == (Why.ALL_PAUSED, "a person paused all new starts: lunch")


def test_a_task_that_backs_off_says_how_long_and_why() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    floor.tell(failed(floor.journal.task("a"), retry_after_seconds=30))
    assert reason(floor, "a") == (Why.BACKOFF, "tries again in 30s: exit 1")
    assert floor.board.reason(A, 0).until == floor.journal.time + 30


def test_finished_work_says_its_place_in_the_lane() -> None:
    floor = Floor(task("a"), task("b"))
    floor.start("a", "b")
    floor.carry_on("a", "b")
    assert reason(floor, "a") == (Why.LANE, "first in the lane to main; verify is next")
    assert reason(floor, "b") == (Why.LANE, "place 2 in the lane to main, behind a")


def test_a_change_that_may_have_landed_says_so() -> None:
    floor = Floor(task("a"))
    for _ in range(2):
        floor.start("a")
        floor.carry_on("a")
    floor.tell(f.TaskReset(A))
    assert reason(floor, "a")[1] == "its tested change may be on main already; that is being looked up"


def test_a_running_task_says_what_and_since_when() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    floor.tell(f.PlanAccepted("x", "y", 1), after=300)
    assert reason(floor, "a") == (Why.RUNNING, "implement, attempt 1, for 5m")


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (f.TaskFailed(A, 1, said("no use")), (Why.FAILED, "no use (0 attempts)")),
        (f.TaskCancelled(A, "not wanted"), (Why.CANCELLED, "not wanted")),
        (f.TaskRemoved(A), (Why.REMOVED, "removed: no longer in the task graph")),
        (f.StopRequested("run"), (Why.STOPPING, "the run is stopping and starts nothing new")),
        (f.RunEnded("run", None), (Why.NO_RUN, "no run is active")),
        (
            f.RunStarted("r", "h", 2, 3, ()),
            (Why.NOT_SELECTED, "it is not among the tasks that this run was told to do"),
        ),
        (f.MainSeen("main", "c", "t"), (Why.READY, "ready")),  # type: ignore[arg-type]  # plain text will do
    ],
)
def test_the_rest_say_what_became_of_them(end: f.Fact, expected: tuple[str, str]) -> None:
    floor = Floor(task("a"))
    floor.tell(end)
    assert reason(floor, "a") == expected


def test_a_landed_task_names_its_commit() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    floor.land("a")
    assert reason(floor, "a") == (Why.DONE, "done: landed as a-1")


def test_what_is_kept_free_for_a_task_that_waited_long_is_explained() -> None:
    floor = Floor(task("a", uses=("x",)), task("b", uses=("x", "y")))
    floor.start("a")
    floor.tell(f.TaskAccepted(task("c", uses=("y",))))
    assert floor.choice() == ["c"]
    floor.tell(f.PlanAccepted("x", "y", 1), after=7_200)
    assert floor.choice() == []
    assert reason(floor, "c") == (Why.KEPT_FREE, "wants y (uses), kept free for the first in order, b")
