"""Who goes first where tasks queue for leases (K4, P4, D9; DESIGN 4)."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.model.forecast import Forecast
from interlock.model.task import Task, TaskId
from interlock.schedule import Board
from interlock.schedule.outline import LARGEST
from interlock.schedule.passes import JobLayout, make_plan, run_through
from tests.schedule.test_board import Floor, task
from tests.schedule.test_properties import Drive, graphs
from tests.tiers import examples

QUEUE = [task(f"queued-{number}", uses=("db",), estimate_seconds=100.0) for number in range(3)]
LONG = [task(f"long-{number}", estimate_seconds=150.0) for number in range(2)]


def test_a_queue_for_a_lease_is_begun_before_single_tasks_that_are_longer() -> None:
    floor = Floor(*LONG, *QUEUE, slots=2)
    assert sorted(floor.choice(2)) == ["long-1", "queued-0"]  # over after 300 s; both long ones first: 450


def test_without_a_queue_the_longest_chain_goes_first() -> None:
    floor = Floor(*LONG, QUEUE[0], slots=2)
    assert floor.choice(2) == ["long-0", "long-1"]


@pytest.mark.parametrize(
    "wants", [{"exclusive": ("CHANGELOG.md",)}, {"exclusive": ("docs/**",), "touches": ("docs/a.md",)}]
)
def test_paths_that_are_wanted_alone_make_a_queue_too(wants: dict[str, object]) -> None:
    queue = [task(f"queued-{number}", estimate_seconds=100.0, **wants) for number in range(3)]
    assert "queued-0" in Floor(*LONG, *queue, slots=2).choice(2)


def test_who_only_touches_what_another_wants_alone_stands_in_its_queue() -> None:
    alone = task("alone", exclusive=("docs/**",), estimate_seconds=100.0)
    beside = [task(f"beside-{n}", touches=(f"docs/{n}.md",), estimate_seconds=120.0) for n in range(2)]
    floor = Floor(task("long", estimate_seconds=150.0), alone, *beside, slots=2)
    assert "long" not in floor.choice(1)  # 220 s of queue beside 150


def test_the_reason_says_that_queues_count() -> None:
    floor = Floor(*LONG, *QUEUE, slots=2)
    starts = {choice.task: choice.why for choice in floor.board.choose(2, floor.journal.time)}
    why = starts[TaskId("queued-0")]
    assert (why.number("seconds_behind"), why.fields["queues"]) == (200.0, True)


def test_figures_stay_while_tasks_end_and_follow_what_is_learned() -> None:
    floor = Floor(*LONG, *QUEUE, slots=2)
    floor.start("long-1", "queued-0")
    floor.land("queued-0")
    assert floor.choice(1) == ["queued-1"]
    for spec in QUEUE:
        floor.tell(f.TaskEstimated(spec.id, Forecast("", "", "", 10.0, 20.0, 0.9)))
    assert floor.choice(1) == ["long-0"]


@pytest.mark.slow
def test_a_graph_that_is_very_large_is_not_gone_through() -> None:
    many = [task(f"queued-{number}", uses=("db",), estimate_seconds=100.0) for number in range(LARGEST)]
    assert "queued-2" in Floor(*LONG, *many[2:], slots=2).choice(2)
    assert Floor(*LONG, *many[1:], slots=2).choice(2) == ["long-0", "long-1"]


def test_a_task_that_is_not_part_of_the_run_holds_nobody_up() -> None:
    floor = Floor(*LONG, *QUEUE, slots=2)
    wanted = (*(spec.id for spec in LONG), QUEUE[0].id)
    floor.tell(f.RunStarted("another", "holder", 2, 2, wanted))
    assert floor.choice(2) == ["long-0", "long-1"]


@pytest.mark.slow
@pytest.mark.property
@examples(0.8)
@given(graphs(), st.integers(1, 4), st.integers(0, 2**16))
def test_a_board_that_has_seen_a_run_from_its_beginning_chooses_like_a_new_one(
    specs: list[Task], slots: int, seed: int
) -> None:
    drive = Drive(specs, slots, seed)
    for _ in range(4 * len(specs)):
        now = drive.journal.time
        assert drive.board.choose(slots, now) == Board(drive.state, now).choose(slots, now)
        drive.start_all()
        if not drive.state.running:
            break
        drive.end_one()


@st.composite
def layouts(draw: st.DrawFn) -> JobLayout:
    dice = random.Random(draw(st.integers(0, 2**16)))
    size, leases = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    needs = [sorted(dice.sample(range(job), min(job, dice.choice((0, 0, 1, 2))))) for job in range(size)]
    needed_by = [[later for later in range(size) if job in needs[later]] for job in range(size)]
    wanted = [dice.sample(range(leases), dice.randint(0, leases)) for _ in range(size)]
    takes = [[lease for lease in each if dice.random() < 0.6] for each in wanted]
    shares = [
        [lease for lease in each if lease not in mine] for each, mine in zip(wanted, takes, strict=True)
    ]
    return JobLayout([dice.uniform(1, 9) for _ in range(size)], needs, needed_by, takes, shares, leases)


@pytest.mark.slow
@pytest.mark.property
@given(layouts(), st.integers(1, 4))
def test_going_through_a_run_keeps_needs_leases_and_slots(layout: JobLayout, slots: int) -> None:
    ends = run_through(layout, slots, layout.seconds)
    starts = [end - seconds for end, seconds in zip(ends, layout.seconds, strict=True)]
    for job, needs in enumerate(layout.needs):
        assert all(ends[need] <= starts[job] + 1e-9 for need in needs)
        beside = [other for other, start in enumerate(starts) if start <= starts[job] < ends[other] - 1e-9]
        assert len(beside) <= slots
        assert all(is_apart(layout, job, other) for other in beside if other != job)


def is_apart(layout: JobLayout, one: int, other: int) -> bool:
    return not any(
        set(layout.takes[a]) & {*layout.takes[b], *layout.shares[b]} for a, b in ((one, other), (other, one))
    )


@pytest.mark.slow
@pytest.mark.property
@given(layouts(), st.integers(1, 4))
def test_no_plan_takes_longer_than_going_by_chains_alone(layout: JobLayout, slots: int) -> None:
    tails = chains(layout)
    plan = make_plan(layout, slots, tails)
    assert max(run_through(layout, slots, plan.urgency)) <= max(run_through(layout, slots, tails))
    assert all(map(float.__ge__, [u + 1e-9 for u in plan.urgency], tails))


def chains(layout: JobLayout) -> Sequence[float]:
    tails = [0.0] * len(layout.seconds)
    for job in reversed(range(len(tails))):
        tails[job] = layout.seconds[job] + max((tails[later] for later in layout.needed_by[job]), default=0.0)
    return tails
