"""Related work goes first when nothing more urgent waits (P5, P4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.affinity import STORIES_KEPT
from interlock.model.task import CRITICAL, NORMAL, Task, TaskId
from interlock.schedule.affinity import BOUND_SECONDS, WARM_SECONDS
from interlock.schedule.order import RATE
from tests.schedule.test_board import Floor, task
from tests.tiers import examples


def after_login(*others: Task) -> Floor:
    """A floor where an agent has just ended a task of the story login."""
    floor = Floor(task("a", story="login"), *others)
    floor.start("a")
    floor.tell(f.AgentExited(TaskId("a"), 1, "implement", 1))
    return floor


def test_of_tasks_that_are_as_urgent_the_one_of_the_story_that_was_just_worked_on_goes_first() -> None:
    floor = after_login(task("b"), task("c", story="login"))
    assert floor.choice(1) == ["c"]
    assert floor.choice() == ["c", "b"]
    (first, second) = floor.board.choose(2, floor.journal.time)
    assert (first.why.tasks, first.why.text("story")) == (("a",), "login")
    assert second.why.tasks == ()


@pytest.mark.parametrize(("ahead", "first"), [(BOUND_SECONDS - 1, "c"), (BOUND_SECONDS + 1, "b")])
def test_it_passes_others_only_within_the_bound(ahead: float, first: str) -> None:
    floor = after_login(
        task("b", estimate_seconds=600.0 + ahead), task("c", story="login", estimate_seconds=600.0)
    )
    assert floor.choice(1) == [first]


def test_it_never_passes_a_critical_task() -> None:
    floor = after_login(task("b", priority=CRITICAL), task("c", story="login", priority=NORMAL - 1))
    assert floor.choice(1) == ["b"]


def test_what_is_warm_cools_down() -> None:
    floor = after_login(task("b"), task("c", story="login"))
    floor.tell(f.Unpaused(), after=WARM_SECONDS + 1)
    assert floor.choice(1) == ["b"]


def test_a_related_task_that_cannot_start_holds_nobody_up() -> None:
    floor = after_login(task("b"), task("c", story="login", uses=("db",)), task("d", uses=("db",)))
    floor.start("d")
    assert floor.choice() == ["b"]


def test_a_task_that_leaves_its_story_is_not_taken_for_related_any_more() -> None:
    floor = after_login(task("b"), task("c", story="login"))
    floor.tell(f.TaskAccepted(task("c")))
    assert floor.choice(1) == ["b"]


def test_only_so_many_stories_are_remembered() -> None:
    names = [f"t{number}" for number in range(STORIES_KEPT + 3)]
    floor = Floor(*(task(name, story=name) for name in names))
    for name in names:
        floor.start(name)
        floor.carry_on(name)
    assert list(floor.journal.state.warm) == names[3:]


@pytest.mark.slow
@pytest.mark.property
@examples(0.4)
@given(
    st.lists(st.tuples(st.integers(30, 900), st.integers(1, 400)), min_size=1, max_size=30),
    st.integers(0, 600),
)
def test_an_endless_story_cannot_keep_another_task_waiting(
    work: list[tuple[int, int]], estimate: int
) -> None:
    """Each task of the story follows the one before, takes so long and says so; one slot."""
    floor = after_login(task("lone", estimate_seconds=float(estimate)))
    number, longest = 0, max(says for _, says in work)
    began = floor.journal.time
    while True:
        takes, says = work[number % len(work)]
        name = f"s{number}"
        floor.tell(f.TaskAccepted(task(name, story="login", estimate_seconds=float(says))))
        (chosen,) = floor.choice(1)
        if chosen == "lone":
            break
        floor.start(chosen)
        floor.tell(f.AgentExited(TaskId(chosen), 1, "implement", 1), after=float(takes))
        number += 1
        # What is new can be ahead by its estimate, and by the bound; age makes up for both.
        waited = floor.journal.time - began
        assert waited <= (longest + BOUND_SECONDS) / RATE + 1_000
