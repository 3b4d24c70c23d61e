"""What `plan` can say before anything runs (MISSION W3, W4)."""

from dataclasses import dataclass

import pytest

from interlock.model.reason import Why
from interlock.model.task import Agent, Task, TaskId
from interlock.plan import Standing, analyse
from interlock.plan import simulate as simulation
from interlock.plan.conflicts import LISTED, Clash
from interlock.schedule import order
from interlock.ui.words.reasons import reason_text

BOT = Agent("bot", "command", ("bot",))


@dataclass(frozen=True)
class Wants:
    """What a task asks for besides its needs."""

    touches: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


NOTHING = Wants()


def task(id: str, *needs: str, seconds: float = 10.0, priority: int = 2, wants: Wants = NOTHING) -> Task:
    return Task(
        TaskId(id),
        "x",
        BOT,
        tuple(map(TaskId, needs)),
        touches=wants.touches,
        exclusive=wants.exclusive,
        shared=wants.shared,
        uses=wants.uses,
        estimate_seconds=seconds,
        priority=priority,
    )


def ids(*names: str) -> frozenset[TaskId]:
    return frozenset(map(TaskId, names))


DIAMOND = (task("a"), task("b", "a", seconds=30), task("c", "a"), task("d", "b", "c"))


def test_the_longest_path_is_critical_and_bounds_the_makespan() -> None:
    found = analyse(DIAMOND, 2)
    assert found.critical_path == ("a", "b", "d")
    assert found.critical_seconds == found.lower_bound_seconds == found.makespan_seconds == 50
    assert found.work_seconds == 60
    assert found.tails == {"a": 50, "b": 40, "c": 20, "d": 10}
    assert found.waves == (("a",), ("b", "c"), ("d",))
    assert found.may_proceed


def test_one_slot_takes_the_sum_of_the_work() -> None:
    found = analyse(DIAMOND, 1)
    assert found.makespan_seconds == found.lower_bound_seconds == 60
    assert found.waves == (("a",), ("b",), ("c",), ("d",))


def test_the_order_puts_needs_first_whatever_the_file_says() -> None:
    assert analyse(DIAMOND[::-1], 3).order == ("a", "c", "b", "d")


def test_a_critical_task_goes_before_a_longer_path() -> None:
    tasks = (task("long", seconds=99), task("urgent", seconds=1, priority=0))
    assert analyse(tasks, 1).waves == (("urgent",), ("long",))


def test_what_is_done_is_neither_in_a_wave_nor_waited_for() -> None:
    found = analyse(DIAMOND, 2, Standing(done=ids("a", "b")))
    assert found.waves == (("c",), ("d",))
    assert found.unscheduled == {}


def test_users_of_one_thing_follow_each_other_and_the_bound_knows() -> None:
    tasks = tuple(task(f"t{i}", wants=Wants(uses=("db",))) for i in range(4))
    found = analyse(tasks, 4)
    assert found.makespan_seconds == found.lower_bound_seconds == 40
    assert [len(wave) for wave in found.waves] == [1, 1, 1, 1]
    assert (found.conflicts.hard, found.conflicts.soft) == (6, 0)
    assert found.conflicts.listed[0].over == "db"


@pytest.mark.parametrize(
    ("first", "second", "severity", "over"),
    [
        (Wants(touches=("src/**",)), Wants(touches=("src/a.py",)), Clash.SOFT, "src/** and src/a.py"),
        (Wants(touches=("a.py",)), Wants(touches=("a.py",)), Clash.SOFT, "a.py"),
        (Wants(touches=("a.py",)), Wants(shared=("*.py",)), Clash.SOFT, "a.py and *.py"),
        (Wants(exclusive=("**",)), Wants(touches=("x/y",)), Clash.HARD, "** and x/y"),
        (Wants(exclusive=("a",)), Wants(exclusive=("a/b",)), Clash.HARD, "a and a/b"),
        (Wants(shared=("a/*",)), Wants(exclusive=("*/b",)), Clash.HARD, "a/* and */b"),
        (Wants(uses=("db",), touches=("a",)), Wants(uses=("db",), touches=("a",)), Clash.HARD, "db"),
    ],
)
def test_tasks_that_want_the_same_are_a_conflict(
    first: Wants, second: Wants, severity: Clash, over: str
) -> None:
    (found,) = analyse((task("a", wants=first), task("b", wants=second)), 2).conflicts.listed
    assert (found.first, found.second, found.severity, found.over) == ("a", "b", severity, over)
    assert found.may_proceed is (severity is Clash.SOFT)


def test_a_conflict_the_other_way_round_is_the_same_conflict() -> None:
    tasks = (task("a", wants=Wants(touches=("x/y",))), task("b", wants=Wants(exclusive=("**",))))
    (found,) = analyse(tasks, 2).conflicts.listed
    assert (found.severity, found.over) == (Clash.HARD, "x/y and **")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Wants(touches=("src/a/**",)), Wants(exclusive=("src/b/**",))),
        (Wants(shared=("src/**",)), Wants(shared=("src/**",))),
        (Wants(uses=("db",)), Wants(uses=("port",))),
    ],
)
def test_tasks_that_do_not_meet_are_none(first: Wants, second: Wants) -> None:
    found = analyse((task("a", wants=first), task("b", wants=second)), 2)
    assert (found.conflicts.listed, len(found.waves)) == ((), 1)


def test_tasks_that_are_ordered_by_needs_cannot_conflict() -> None:
    tasks = (task("a", wants=Wants(uses=("db",))), task("b", "a"), task("c", "b", wants=Wants(uses=("db",))))
    assert analyse(tasks, 3).conflicts.hard == 0


def test_ten_thousand_pairs_are_counted_and_only_the_first_listed() -> None:
    tasks = tuple(task(f"t{i}", wants=Wants(touches=("README.md",))) for i in range(200))
    found = analyse(tasks, 3).conflicts
    assert (found.soft, len(found.listed), found.is_complete) == (199 * 200 // 2, LISTED, True)


def test_an_exclusive_task_waits_for_all_others_that_meet_it() -> None:
    tasks = (
        task("all", wants=Wants(exclusive=("**",)), seconds=5),
        *(task(f"t{i}", wants=Wants(touches=(f"d{i}/x",))) for i in range(4)),
    )
    found = analyse(tasks, 4)
    assert found.waves == (("t0", "t1", "t2", "t3"), ("all",))
    assert found.makespan_seconds == 15


def test_what_cannot_be_scheduled_says_why() -> None:
    tasks = (
        task("bad"),
        task("after-bad", "bad"),
        task("later", "after-bad"),
        task("apart"),
        task("wants-apart", "apart"),
        task("lost", "nowhere"),
        task("x", "y"),
        task("y", "x"),
        task("fine"),
    )
    chosen = frozenset(one.id for one in tasks) - ids("apart")
    found = analyse(tasks, 2, Standing(given_up=ids("bad"), selected=chosen))
    assert found.waves == (("fine",),)
    assert {id: reason.code for id, reason in found.unscheduled.items()} == {
        "bad": Why.GIVEN_UP,
        "after-bad": Why.NEED_GIVEN_UP,
        "later": Why.NEED_BLOCKED,
        "wants-apart": Why.NEED_NOT_SELECTED,
        "lost": Why.NEED_MISSING,
        "x": Why.CYCLE,
        "y": Why.CYCLE,
    }
    assert reason_text(found.unscheduled[TaskId("later")]).startswith(
        "blocked: needs after-bad, which cannot run"
    )
    assert not found.may_proceed


def test_an_empty_plan_takes_no_time() -> None:
    found = analyse((), 3)
    assert (found.waves, found.critical_path, found.makespan_seconds, found.lower_bound_seconds) == (
        (),
        (),
        0,
        0,
    )


@pytest.mark.slow
def test_too_many_globs_that_are_all_alike_are_said_to_be_incomplete() -> None:
    tasks = tuple(task(f"t{i}", wants=Wants(touches=(f"**/name{i}",))) for i in range(400))
    assert analyse(tasks, 3).conflicts.is_complete is False


def test_the_forecast_weighs_priority_and_waiting_as_the_scheduler_does() -> None:
    assert (simulation.RATE, simulation.BONUS_SECONDS) == (order.RATE, order.BONUS_SECONDS)


def test_a_step_of_priority_outweighs_a_little_more_work() -> None:
    tasks = (task("longer", seconds=900), task("wanted", seconds=60, priority=1))
    assert analyse(tasks, 1).waves == (("wanted",), ("longer",))


@pytest.mark.parametrize(
    "wants", [Wants(touches=("src/a.py",)), Wants(shared=("src/a.py",)), Wants(exclusive=("src",))]
)
def test_what_one_task_holds_exclusively_makes_the_others_wait(wants: Wants) -> None:
    holder = task("holder", seconds=900, wants=Wants(exclusive=("src/**",)))
    found = analyse((holder, task("other", wants=wants)), 2)
    assert found.waves == (("holder",), ("other",))
    assert found.makespan_seconds == 910
