"""What holds for every graph and every history (W2, K4, P4, D9; issue 2 item 5)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.globs import overlap
from interlock.model.reason import Why
from interlock.model.task import PhaseKind, Task, TaskId
from interlock.schedule import Board
from interlock.schedule.order import DAY_SECONDS
from interlock.train import moves as lane_moves
from interlock.ui.words.reasons import reason_text
from tests.events.journal import AGENT, Journal, Move, fact, failed, moves
from tests.schedule.test_board import task
from tests.tiers import examples

pytestmark = pytest.mark.slow

globs = st.sampled_from(("src/**", "src/a", "src/a/x.py", "docs/**", "CHANGELOG.md", "**/x.py"))
some = st.lists(globs, max_size=2, unique=True).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> list[Task]:
    size = draw(st.integers(1, 9))
    names = [TaskId(f"t{number}") for number in range(size)]
    return [
        Task(
            name,
            "",
            AGENT,
            needs=tuple(draw(st.sets(st.sampled_from(names[:at]), max_size=2))) if at else (),
            uses=draw(st.sampled_from(((), ("port",), ("db",), ("port", "db")))),
            exclusive=draw(st.sampled_from(((), (), ("src/a",), ("docs/**",)))),
            shared=draw(st.sampled_from(((), (), ("src/**",), ("docs/**",)))),
            touches=draw(some),
            priority=draw(st.integers(0, 4)),
            estimate_seconds=draw(st.sampled_from((10.0, 60.0, 600.0))),
        )
        for at, name in enumerate(names)
    ]


def conflict(one: Task, other: Task) -> bool:
    """The rule for hard leases, read literally."""
    paths = {task.id: (*task.exclusive, *task.shared, *task.touches) for task in (one, other)}
    return bool(set(one.uses) & set(other.uses)) or any(
        overlap(mine, theirs)
        for a, b in ((one, other), (other, one))
        for mine in a.exclusive
        for theirs in paths[b.id]
    )


def agents(state: State) -> list[Task]:
    return [
        state.tasks[n].spec
        for n in sorted(state.index.running)
        if state.tasks[n].phase.kind is PhaseKind.AGENT
    ]


def paths_only(spec: Task) -> Task:
    return Task(spec.id, "", AGENT, exclusive=spec.exclusive, shared=spec.shared, touches=spec.touches)


@pytest.mark.property
@given(moves)
def test_a_board_kept_up_to_date_equals_one_built_afresh(steps: list[Move]) -> None:
    journal = Journal()
    kept = Board(journal.state)
    for move in steps:
        kept.update(journal.tell(fact(journal, move), after=float(move[2]) * 400))
        fresh, now = Board(journal.state, journal.time), journal.time
        for slots in (1, 2, 6):
            assert kept.choose(slots, now) == fresh.choose(slots, now)
        assert kept.next_wakeup(now) == fresh.next_wakeup(now)
        assert [kept.reason(n, now) for n in journal.state.tasks] == [
            fresh.reason(n, now) for n in journal.state.tasks
        ]


@pytest.mark.property
@given(moves)
def test_every_task_has_a_reason_that_fits_its_stage(steps: list[Move]) -> None:
    journal = Journal()
    for move in steps:
        journal.tell(fact(journal, move))
    board = Board(journal.state)
    fitting: dict[Stage, set[str]] = {
        Stage.RUNNING: {Why.RUNNING},
        Stage.DONE: {Why.DONE},
        Stage.FAILED: {Why.FAILED},
        Stage.CANCELLED: {Why.CANCELLED},
        Stage.REMOVED: {Why.REMOVED},
    }
    waiting = set[str](Why) - set().union(*fitting.values())
    for name, found in journal.state.tasks.items():
        reason = board.reason(name, journal.time)
        assert reason.code in fitting.get(found.stage, waiting)
        assert reason_text(reason)


class Drive:
    """A run in which the board decides what starts and dice decide what comes of it."""

    def __init__(self, specs: list[Task], slots: int, seed: int) -> None:
        self.journal = Journal(*specs)
        self.journal.run(slots)
        self.board = Board(self.journal.state)
        self.slots = slots
        self.dice = random.Random(seed)

    @property
    def state(self) -> State:
        return self.journal.state

    def start_all(self) -> None:
        for name in list(self.state.index.reconcile):
            candidate = self.state.tasks[name].change.candidate
            assert candidate is not None
            self.board.update(self.journal.tell(f.CandidateDropped(name, candidate.commit)))
        for choice in self.board.choose(self.slots - len(agents(self.state)), self.journal.time):
            self.board.update(self.journal.start(choice.task))
        for move in lane_moves(self.state, self.journal.time).starts:
            self.board.update(self.journal.start(move.task))

    def end_one(self) -> None:
        name = self.dice.choice(sorted(self.state.index.running))
        found = self.state.tasks[name]
        if self.dice.random() < 0.2 and len(found.trouble.failures) < 3:
            self.board.update(self.journal.tell(failed(found), after=self.dice.random() * 300))
        else:
            self.board.update(self.journal.carry_on(name))


@pytest.mark.property
@examples(2)
@given(graphs(), st.integers(1, 4), st.integers(0, 2**16))
def test_a_run_lands_everything_and_never_breaks_a_lease_or_wastes_a_slot(
    specs: list[Task], slots: int, seed: int
) -> None:
    drive = Drive(specs, slots, seed)
    for _ in range(60 * len(specs)):
        drive.start_all()
        assert_no_conflicts(drive.state)
        assert_no_slot_wasted(drive.state, slots)
        if not drive.state.index.running:
            break
        drive.end_one()
    assert drive.state.index.counts[Stage.DONE] == len(specs)


def assert_no_conflicts(state: State) -> None:
    working = agents(state)
    in_train = [paths_only(state.tasks[name].spec) for name in state.index.train]
    for at, one in enumerate(working):
        others = [*working[at + 1 :], *in_train]
        assert not [
            other.id for other in others if conflict(one if other in working else paths_only(one), other)
        ]


def assert_no_slot_wasted(state: State, slots: int) -> None:
    """After all starts, who is left over either has a hard conflict, overlaps, or found no slot."""
    working = agents(state)
    if len(working) >= slots:
        return
    under_way = [*working, *(paths_only(state.tasks[name].spec) for name in state.index.train)]
    for found in state.tasks.values():
        ready = (
            found.stage is Stage.WAITING and found.phase.kind is PhaseKind.AGENT and found.queue.unmet == 0
        )
        if ready:
            assert any(conflict(found.spec, other) or touching(found.spec, other) for other in under_way)


def touching(one: Task, other: Task) -> bool:
    return any(overlap(mine, theirs) for mine in one.touches for theirs in other.touches)


@pytest.mark.property
@examples(0.4)
@given(st.integers(0, 2**16), st.sampled_from([{}, {"uses": ("db",)}]))
def test_a_stream_of_critical_arrivals_passes_a_task_for_two_days_at_most(
    seed: int, wants: dict[str, object]
) -> None:
    drive = Drive([task("last", priority=4, estimate_seconds=1, **wants)], 1, seed)
    arrived = drive.journal.time
    for number in range(100):
        urgent = f.TaskAccepted(task(f"urgent-{number}", priority=0, estimate_seconds=9_000, **wants))
        drive.board.update(drive.journal.tell(urgent, after=3_600))
        drive.start_all()
        if "last" in drive.state.index.running:
            assert drive.journal.time - arrived <= 2 * DAY_SECONDS + 7_200
            return
        while drive.state.index.running:
            drive.board.update(drive.journal.carry_on(min(drive.state.index.running)))
            for move in lane_moves(drive.state, drive.journal.time).starts:
                drive.board.update(drive.journal.start(move.task))
    raise AssertionError("it never started")


def test_small_tasks_that_hand_a_lease_to_each_other_cannot_keep_a_big_one_waiting() -> None:
    """One of `x` and `y` is always taken by somebody: without a reservation `big` would never get both."""
    drive = Drive([task("small-0", uses=("x",))], 2, 0)
    drive.start_all()
    drive.board.update(drive.journal.tell(f.TaskAccepted(task("big", uses=("x", "y")))))
    for number in range(1, 60):
        small = f.TaskAccepted(task(f"small-{number}", uses=("xy"[number % 2],)))
        drive.board.update(drive.journal.tell(small, after=600))
        drive.start_all()
        previous = TaskId(f"small-{number - 1}")
        if previous in drive.state.index.running:
            drive.board.update(drive.journal.carry_on(previous))
            drive.start_all()
        if "big" in drive.state.index.running:
            assert number >= 6  # not before its hour was over
            return
    raise AssertionError("it never started")
