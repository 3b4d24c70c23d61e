"""What starts next (W1, W2, K4, D5, P4), told as small stories."""

import pytest

from interlock.events import facts as f
from interlock.model.forecast import Forecast
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Commit, Task, TaskId
from interlock.schedule import Board
from interlock.schedule.board import LeaseTimeouts
from tests.events.journal import AGENT, Journal, failed

A, B, C = map(TaskId, "abc")


def task(name: str, **fields: object) -> Task:
    return Task(TaskId(name), f"do {name}", AGENT, **fields)  # type: ignore[arg-type]  # any field, by its name


class Floor:
    """A run with a board that is kept up to date."""

    def __init__(self, *specs: Task, slots: int = 3) -> None:
        self.journal = Journal(*specs)
        self.journal.run(slots)
        self.board = Board(self.journal.state, self.journal.time)

    def tell(self, *facts: f.Fact, after: float = 1.0) -> None:
        self.board.update(self.journal.tell(*facts, after=after))

    def start(self, *names: str) -> None:
        for name in names:
            self.board.update(self.journal.start(name))

    def carry_on(self, *names: str) -> None:
        for name in names:
            self.board.update(self.journal.carry_on(name))

    def land(self, name: str) -> None:
        self.carry_on(name)
        for _ in range(2):
            self.start(name)
            self.carry_on(name)

    def choice(self, slots: int = 3) -> list[str]:
        return [choice.task for choice in self.board.choose(slots, self.journal.time)]


def test_tasks_without_needs_start_at_once_in_as_many_slots_as_there_are() -> None:
    floor = Floor(task("a"), task("b"), task("c"))
    assert floor.choice(2) == ["a", "b"]
    assert floor.choice(0) == []


def test_asking_again_before_anything_started_gives_the_same_answer() -> None:
    floor = Floor(task("a", uses=("db",)), task("b", uses=("db",)), task("c"))
    assert floor.choice() == floor.choice() == ["a", "c"]


def test_a_task_waits_until_its_needs_have_landed_and_not_only_finished() -> None:
    floor = Floor(task("a"), task("b", needs=(A,)))
    floor.start("a")
    floor.carry_on("a")
    assert floor.choice() == []
    for _ in range(2):
        floor.start("a")
        floor.carry_on("a")
    assert floor.choice() == ["b"]


def test_the_longest_chain_goes_first() -> None:
    floor = Floor(task("a"), task("b"), task("c", needs=(B,)))
    assert floor.choice(1) == ["b"]


def test_a_chain_that_grows_moves_its_first_task_forward() -> None:
    floor = Floor(task("a"), task("b"), task("d", needs=(A,)))
    assert floor.choice(1) == ["a"]
    floor.tell(f.TaskAccepted(task("c", needs=(B,), estimate_seconds=5_000)))
    assert floor.choice(1) == ["b"]
    floor.tell(f.TaskRemoved(C))
    assert floor.choice(1) == ["a"]


def test_what_was_learned_of_a_task_weighs_more_than_what_its_definition_says() -> None:
    """A8."""
    floor = Floor(task("a", estimate_seconds=700), task("b"), task("c", needs=(B,), estimate_seconds=10))
    assert floor.choice(1) == ["a"]
    floor.tell(f.TaskEstimated(C, Forecast("backend", Reason(Why.DECLARED), "agent", 800.0, 1_600.0, 0.7)))
    assert floor.choice(1) == ["b"]


def test_critical_work_jumps_the_queue() -> None:
    floor = Floor(task("a", estimate_seconds=90_000), task("b", priority=0, estimate_seconds=1))
    assert floor.choice(1) == ["b"]


def test_a_higher_priority_weighs_more_than_a_little_more_work() -> None:
    floor = Floor(task("a", estimate_seconds=700), task("b", priority=1))
    assert floor.choice(1) == ["b"]


def test_among_equals_the_one_that_has_waited_longer_goes_first() -> None:
    floor = Floor(task("b"))
    floor.tell(f.TaskAccepted(task("a")), after=60)
    assert floor.choice(1) == ["b"]


def test_what_uses_the_same_thing_runs_one_after_the_other_and_only_while_agents_run() -> None:
    floor = Floor(task("a", uses=("port:web",)), task("b", uses=("port:web",)))
    floor.start("a")
    assert floor.choice() == []
    floor.carry_on("a")
    assert floor.choice() == ["b"]


@pytest.mark.parametrize(
    ("mine", "theirs", "together"),
    [
        ({"exclusive": ("src/**",)}, {"exclusive": ("src/a.py",)}, False),
        ({"exclusive": ("src/**",)}, {"shared": ("src/a.py",)}, False),
        ({"exclusive": ("src/**",)}, {"touches": ("src/a.py",)}, False),
        ({"touches": ("src/a.py",)}, {"exclusive": ("src/**",)}, False),
        ({"shared": ("src/**",)}, {"shared": ("src/a.py",)}, True),
        ({"shared": ("src/**",)}, {"touches": ("src/a.py",)}, True),
        ({"exclusive": ("docs/**",)}, {"exclusive": ("src/**",)}, True),
    ],
)
def test_exclusive_paths_keep_everyone_else_away(
    mine: dict[str, object], theirs: dict[str, object], together: bool
) -> None:
    floor = Floor(task("a", **mine), task("b", **theirs))
    assert floor.choice() == (["a", "b"] if together else ["a"])


def test_paths_stay_taken_until_the_change_has_landed() -> None:
    floor = Floor(task("a", exclusive=("x",)), task("b", exclusive=("x",)))
    floor.start("a")
    floor.carry_on("a")
    assert floor.choice() == []
    for _ in range(2):
        floor.start("a")
        floor.carry_on("a")
    assert floor.choice() == ["b"]


def test_paths_are_free_again_when_a_check_sends_the_change_back() -> None:
    floor = Floor(task("a", exclusive=("x",)), task("b", exclusive=("x",), priority=1))
    floor.start("a")
    floor.carry_on("a")
    floor.start("a")
    floor.tell(failed(floor.journal.task("a")))
    assert floor.choice() == ["b"]


@pytest.mark.parametrize("fact", [f.Paused(A), f.TaskCancelled(A), f.RunStarted("r", "h", 2, 3, (B,))])
def test_finished_work_that_waits_for_a_person_holds_nothing(fact: f.Fact) -> None:
    floor = Floor(task("a", exclusive=("x",)), task("b", exclusive=("x",)))
    floor.start("a")
    floor.carry_on("a")
    floor.tell(fact)
    assert floor.choice() == ["b"]


def test_a_task_that_overlaps_comes_after_one_that_does_not() -> None:
    floor = Floor(
        task("a", touches=("src/**",)),
        task("b", touches=("src/x",), priority=1),
        task("c", touches=("docs",)),
    )
    floor.start("a")
    assert floor.choice(1) == ["c"]


def test_rather_than_idle_a_slot_takes_an_overlapping_task_if_redoing_it_is_cheap() -> None:
    floor = Floor(task("a", touches=("src/**",), estimate_seconds=3_600), task("b", touches=("src/x",)))
    floor.start("a")
    (choice,) = floor.board.choose(1, floor.journal.time)
    assert choice.task == B and (choice.why.code, choice.why.tasks) == (Why.CHEAP_OVERLAP, ("a",))


def test_a_slot_idles_if_the_other_one_is_nearly_over_beside_the_rework_at_stake() -> None:
    floor = Floor(
        task("a", touches=("src/**",), estimate_seconds=60),
        task("b", touches=("src/x",), estimate_seconds=36_000),
    )
    floor.start("a")
    assert floor.choice() == []
    floor.land("a")
    assert floor.choice() == ["b"]


def test_a_task_that_backs_off_starts_when_its_time_has_come() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    floor.tell(failed(floor.journal.task("a"), retry_after_seconds=30))
    now = floor.journal.time
    assert floor.choice() == []
    assert floor.board.next_wakeup(now) == now + 30
    assert [choice.task for choice in floor.board.choose(1, now + 30)] == [A]
    assert floor.board.next_wakeup(now + 30) is None


def test_deferred_work_in_the_lane_wakes_the_loop_too() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    floor.carry_on("a")
    floor.start("a")
    now = floor.journal.task("a")
    floor.tell(f.PhaseDeferred(A, now.attempt, "verify", now.epoch, said("disk full"), 5))
    assert floor.board.next_wakeup(floor.journal.time) == floor.journal.time + 5
    floor.tell(f.Paused(A))
    assert floor.board.next_wakeup(floor.journal.time) is None


def test_a_pause_a_selection_and_an_open_question_keep_tasks_back() -> None:
    floor = Floor(task("a"), task("b"))
    floor.tell(f.Paused())
    assert floor.choice() == []
    floor.tell(f.Unpaused(), f.Paused(A))
    assert floor.choice() == ["b"]
    floor.tell(f.Unpaused(A), f.RunStarted("r", "h", 2, 3, (A,)))
    assert floor.choice() == ["a"]


def test_a_task_whose_change_may_be_on_main_does_not_start_over_before_that_is_known() -> None:
    floor = Floor(task("a"))
    for _ in range(2):
        floor.start("a")
        floor.carry_on("a")
    floor.tell(f.TaskReset(A))
    assert floor.choice() == []
    floor.tell(f.CandidateDropped(A, Commit("a-1")))
    assert floor.choice() == ["a"]


def test_half_of_a_new_graph_with_a_cycle_in_it_hangs_nobody() -> None:
    floor = Floor(task("a"), task("b", needs=(A,)), task("c"))
    floor.tell(f.TaskAccepted(task("a", needs=(B,))))
    assert floor.choice() == ["c"]
    floor.tell(f.TaskAccepted(task("b")))
    assert floor.choice() == ["b", "c"]


def test_a_clock_that_jumps_ahead_ends_no_wait_for_a_lease() -> None:
    """Of an hour between two looks, nothing has passed for the tasks."""
    waits, waiting = LeaseTimeouts(), Journal(task("a", lease_seconds=100.0)).state.tasks[A]
    waits.note(A, waiting)
    since = waiting.queue.ready_since
    assert waits.late(since + 50) == []
    assert waits.late(since + 3650) == []
    assert waits.late(since + 3690) == []
    assert waits.late(since + 3710) == [A]
