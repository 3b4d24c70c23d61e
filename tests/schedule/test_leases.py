"""Leases of which there are several: who may start, who waits, and who gets which value (FIELD 9)."""

from interlock.engine.decide import decide
from interlock.events import facts as f
from interlock.events.leases import Values, held
from interlock.model.leases import Leasable, Leased
from interlock.model.reason import Why
from interlock.model.step import CheckMain, Start, UnderWay
from interlock.model.task import TaskId
from interlock.ui.words.reasons import reason_text
from tests.events.journal import failed
from tests.schedule.test_board import Floor, task

A, B, C = map(TaskId, "abc")


def floor_with(count: int, first: int = 0, **uses: tuple[str, ...]) -> Floor:
    """Tasks that use these, and `count` of `port` and one of `slot`."""
    floor = Floor(*(task(name, leases=names) for name, names in uses.items()))
    leases = (Leasable("port", count, first), Leasable("slot"))
    floor.tell(f.PlanAccepted("g", "d", len(uses), leases))
    return floor


def starts(floor: Floor, acts: dict[TaskId, UnderWay] | None = None) -> dict[TaskId, tuple[str, ...]]:
    """The tasks that start now, with their values."""
    steps = decide(floor.journal.state, floor.board, floor.journal.time, acts or {})
    return {step.task: tuple(each.value for each in step.leased) for step in steps if isinstance(step, Start)}


def test_as_many_start_as_there_are_and_each_gets_another_value() -> None:
    floor = floor_with(2, 3000, a=("port:web",), b=("port",), c=("port",))
    assert starts(floor) == {A: ("3000",), B: ("3001",)}


def test_one_task_may_use_several() -> None:
    floor = floor_with(3, a=("port:web", "port:api"), b=("port:web", "port:api"), c=("port",))
    assert starts(floor) == {A: ("0", "1"), C: ("2",)}


def test_who_waits_is_told_for_whom() -> None:
    floor = floor_with(3, a=("port:web", "port:api"), b=("port:web", "port:api"))
    floor.start("a")
    reason = floor.board.reason(B, floor.journal.time)
    assert reason.code == Why.LEASE
    assert reason_text(reason) == "wants 2 of port (leases), held by a"


def test_a_value_is_free_once_the_attempt_is_over() -> None:
    floor = floor_with(1, a=("port",), b=("port",))
    floor.start("a")
    assert starts(floor) == {}
    floor.tell(failed(floor.journal.task("a"), retry_after_seconds=60.0))
    assert starts(floor) == {B: ("0",)}


def test_a_value_is_held_until_the_agent_that_a_person_took_the_task_from_has_ended() -> None:
    floor = floor_with(1, a=("port",), b=("port",))
    floor.start("a")
    floor.tell(f.TaskCancelled(A))
    assert A not in starts(floor)
    assert B not in starts(floor)
    floor.tell(f.WorkspaceArchived(A, 1, ""))
    assert starts(floor) == {B: ("0",)}


def test_finished_work_holds_nothing_while_it_waits_and_gets_the_same_value_for_its_checks() -> None:
    floor = floor_with(2, a=("port",), b=("port",))
    floor.start("a")
    floor.carry_on("a")
    assert held(floor.journal.state) == {}
    assert starts(floor) == {A: ("0",), B: ("1",)}


def test_a_value_that_is_needed_is_taken_from_finished_work_which_then_waits() -> None:
    floor = floor_with(1, a=("port",), b=("port",))
    floor.start("a")
    floor.carry_on("a")
    floor.start("b")
    assert floor.journal.task("a").session.leased == ()
    assert starts(floor) == {}
    assert reason_text(floor.board.reason(A, floor.journal.time)) == "wants port (leases), held by b"
    floor.carry_on("b")
    assert starts(floor) == {A: ("0",)}


def test_what_a_program_that_is_being_ended_has_is_not_given_again() -> None:
    """State no longer knows of it: a person reset the task while its check ran."""
    floor = floor_with(1, a=("port",), b=("port",))
    assert starts(floor, {A: UnderWay(1, 1, leased=(Leased("port", "0"),))}) == {}


def test_checks_on_main_get_what_all_tasks_with_them_use() -> None:
    floor = Floor(
        task("a", leases=("port:web",), verify=("make",)), task("b", leases=("slot",), verify=("make",))
    )
    floor.tell(f.PlanAccepted("g", "d", 2, (Leasable("port", 5, 70), Leasable("slot"))))
    floor.tell(f.RunStarted("run", "holder", 1, 3, environment="here"))
    (step,) = decide(floor.journal.state, floor.board, floor.journal.time, {})
    assert isinstance(step, CheckMain)
    assert [(each.name, each.value) for each in step.leased] == [("port:web", "70"), ("slot", "0")]


def test_values_for_main_may_be_shared_where_there_are_too_few() -> None:
    floor = floor_with(1)
    lent = Values(floor.journal.state).lend(("port:web", "port:api"))
    assert [each.value for each in lent or ()] == ["0", "0"]


def test_a_graph_with_fewer_values_than_a_task_uses_holds_nobody_up_for_ever() -> None:
    floor = floor_with(2, a=("port:web", "port:api"))
    floor.tell(f.PlanAccepted("g", "e", 1, (Leasable("port", 1, 9),)))
    assert starts(floor) == {A: ("9", "9")}
