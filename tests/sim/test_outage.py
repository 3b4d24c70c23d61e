"""Providers that are away for half a day, and tasks that can never pass: the real engine on virtual time.

W11, A7.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from interlock.engine.engine import Engine
from interlock.engine.env import Env
from interlock.engine.options import Options
from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.outcome import AttemptCallbacks, ErrorClass, Order, Report
from interlock.model.task import AttemptKey, Task, TaskId
from interlock.model.usage import Usage
from interlock.train.retry import SPARE_ATTEMPTS
from tests.sim.fake_git import FakeRepository
from tests.sim.fake_hands import FakeChecker, FakeExecutor, Machine
from tests.sim.graph import AGENT, SUITE, Act, Graph, Script
from tests.sim.loop import Simulation, simulate
from tests.sim.memory_store import MemoryStore
from tests.sim.people import PERSON, DatabaseClock

pytestmark = [pytest.mark.sim, pytest.mark.slow]

HOUR = 3600.0
TIMEOUT_SECONDS = 60.0
PAID = Usage(1_000, 100, calls=1)
Trouble = Callable[[float, Order], Report | None]
"""Return the end of an attempt that begins at this time; None: it goes as its script says."""


class Provided(FakeExecutor):
    """An executor whose agents depend on a provider."""

    def __init__(self, trouble: Trouble, simulation: Simulation, machine: Machine) -> None:
        async def step(_name: str) -> None:
            await asyncio.sleep(0)

        super().__init__(machine, step, lambda: True, Random(0))
        self._trouble, self._now = trouble, simulation.now
        self.ended: list[Report] = []

    async def carry_out(self, order: Order, news: AttemptCallbacks) -> Report:
        report = self._trouble(self._now(), order)
        if report is None:
            return await super().carry_out(order, news)
        await news.opened(order.session, "none", order.base)
        await asyncio.sleep(report.seconds)
        await news.exited()
        self.ended.append(report)
        return report

    def spent(self, key: AttemptKey) -> Usage | None:
        mine = (report.usage for report in self.ended if AttemptKey(report.task, report.attempt) == key)
        return next(mine, None) or super().spent(key)


def broken(order: Order, error: ErrorClass, number: int = 0, usage: Usage | None = None) -> Report:
    words = f"no {'abcdefghijklmnopqrstuvwxyz'[number % 26]}"
    where = (order.task, order.attempt, order.base)
    return Report(*where, error=error, summary=words, exit_code=1, seconds=10.0, usage=usage)


def graph(tasks: int, retries: int = 1) -> Graph:
    names = [TaskId(f"t{number}") for number in range(tasks)]
    usual = {"timeout_seconds": TIMEOUT_SECONDS, "retries": retries, "verify": (SUITE,)}
    specs = tuple(Task(name, f"do {name}", AGENT, **usual) for name in names)  # type: ignore[arg-type]  # fields of Task
    scripts = {name: Script((Act.WORKS,), 20.0, (f"src/{name}",)) for name in names}
    return Graph(specs, scripts, {"src/a": "a\n"}, max_parallel=3)


def run(
    project: Graph, trouble: Trouble, held_seconds: Callable[[float], float] = lambda _: 0.0
) -> tuple[State, Provided, float]:
    """Run to rest; the state, the executor, and the time it took."""
    seen: list[tuple[State, Provided, float]] = []

    async def live(simulation: Simulation) -> None:
        async def count_anew() -> None:
            while True:
                await asyncio.sleep(60.0)
                simulation.loop.begin_anew()

        repository = FakeRepository(project.start)
        machine = Machine(simulation, project, repository)
        store = MemoryStore(DatabaseClock(simulation), simulation.now, State())
        await store.append([f.PlanAccepted("graph", "digest", len(project.tasks))], PERSON)
        await store.append(list(map(f.TaskAccepted, project.tasks)), PERSON)
        executor = Provided(trouble, simulation, machine)

        async def step(_name: str) -> None:
            await asyncio.sleep(0)

        checker = FakeChecker(machine, step, Random(0))
        numbers = iter(range(1_000_000))
        env = Env(
            store,
            repository,
            executor,
            checker,
            lambda: f"id{next(numbers)}",
            executor.lease,
            lambda _: False,
        )
        env = replace(env, held_seconds=held_seconds)
        options = Options(max_parallel=3, controller_lease_seconds=120.0, main_seconds=600.0)
        engine = Engine(env, options)
        patience = asyncio.create_task(count_anew())
        await engine.run()
        patience.cancel()
        seen.append((engine.state, executor, simulation.now()))

    simulate(1, live)
    return seen[0]


@pytest.mark.parametrize("error", [ErrorClass.NETWORK, ErrorClass.QUOTA])
def test_a_provider_that_is_down_for_twelve_hours_fails_no_task_and_all_land_after_it(
    error: ErrorClass,
) -> None:
    def outage(now: float, order: Order) -> Report | None:
        if not 30.0 <= now < 12 * HOUR:
            return None
        # What it had begun before broke off and is paid for; later tries get no answer.
        return broken(order, error, usage=PAID if now < 60.0 else None)

    state, executor, seconds = run(graph(8, retries=0), outage)
    assert {name: task.stage for name, task in state.tasks.items()} == {
        TaskId(f"t{number}"): Stage.DONE for number in range(8)
    }
    assert 12 * HOUR < seconds < 12.5 * HOUR
    tries = [report for report in executor.ended if report.error is error]
    assert 8 <= len(tries) <= 8 * 90, "each looks again every ten minutes"
    assert max(task.trouble.attempts for task in state.tasks.values()) <= 3


def test_a_provider_that_says_when_it_is_back_is_asked_hardly_at_all() -> None:
    def quota(now: float, order: Order) -> Report | None:
        left = 12 * HOUR - now
        return replace(broken(order, ErrorClass.QUOTA), retry_after_seconds=left) if left > 0 else None

    state, executor, seconds = run(graph(4), quota)
    assert {task.stage for task in state.tasks.values()} == {Stage.DONE}
    assert 12 * HOUR < seconds < 12.1 * HOUR
    assert len(executor.ended) == 4


def test_work_that_a_quota_stopped_goes_on_after_quiet_hours() -> None:
    def quota(now: float, order: Order) -> Report | None:
        left = 2 * HOUR - now
        return replace(broken(order, ErrorClass.QUOTA), retry_after_seconds=left) if left > 0 else None

    state, executor, seconds = run(graph(2), quota, lambda _: 5 * HOUR)
    assert {task.stage for task in state.tasks.values()} == {Stage.DONE}
    assert 7 * HOUR < seconds < 7.1 * HOUR
    assert len(executor.ended) == 2


LAYERS: dict[str, Trouble] = {
    "its own": lambda _, order: broken(order, ErrorClass.EXIT, order.attempt),
    "the provider, after it was paid": lambda _, order: broken(order, ErrorClass.NETWORK, usage=PAID),
    "the quota, after it was paid": lambda _, order: broken(order, ErrorClass.QUOTA, usage=PAID),
    "the machine": lambda _, order: broken(order, ErrorClass.OUTSIDE, order.attempt, PAID),
    "all in turn": lambda _, order: broken(
        order,
        (ErrorClass.NETWORK, ErrorClass.OUTSIDE, ErrorClass.OVERLOADED, ErrorClass.EXIT)[order.attempt % 4],
        order.attempt,
        PAID,
    ),
}


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_a_task_that_can_never_pass_is_bounded_whatever_layer_fails(layer: str) -> None:
    most = 9 + 1 + SPARE_ATTEMPTS
    state, executor, seconds = run(graph(1, retries=9), LAYERS[layer])
    (task,) = state.tasks.values()
    assert task.stage is Stage.FAILED
    assert len(executor.ended) <= most
    assert task.spent.usage.tokens <= most * PAID.tokens
    assert task.spent.busy_seconds <= most * TIMEOUT_SECONDS
    assert seconds <= most * (TIMEOUT_SECONDS + 600.0)
