"""One simulated project: a random graph, the real engine on fake hands, and everything that happens to it.

First trouble, for a while: engines crash, are paused, lose the store; people meddle. Then calm: whatever the
trouble left, the engine must bring the project to rest by itself, in bounded time.
"""

import asyncio
import contextvars
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from interlock.engine.engine import Engine
from interlock.engine.env import Env
from interlock.engine.options import Options
from interlock.engine.reviews import Reviews
from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.events.state_parts import DoneTasks
from interlock.model.claim import task_resource
from interlock.model.errors import InterlockError
from interlock.model.task import Tree
from interlock.store.protocol import Store
from interlock.train.review import NONE, ReviewRules
from tests.sim.fake_git import FakeRepository
from tests.sim.fake_hands import FakeChecker, FakeExecutor, Machine
from tests.sim.faults import MAX_CRASHES, OWNER, Crashed, Gate, Gated, Incarnation, own_tasks, random_weather
from tests.sim.graph import LEASE_SECONDS, random_graph
from tests.sim.invariants import Invariants
from tests.sim.loop import Deadlock, Simulation, TooLong, simulate
from tests.sim.memory_store import MemoryStore
from tests.sim.mischief import Mischief
from tests.sim.moody_host import MoodyHost
from tests.sim.people import PERSON, DatabaseClock, People
from tests.sim.rest import KEPT, check_rest
from tests.sim.reviewers import Reviewers
from tests.sim.witness import WatchedStore

STALE_SECONDS = 60.0
GRACE_SECONDS = 30.0
REST_SECONDS = 20_000.0
"""Twelve tasks one by one, each with all its retries and the longest delays, rest well before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one seed showed."""

    seed: int
    violations: tuple[str, ...]
    trace_hash: str
    lines: tuple[str, ...]
    facts: int
    tasks: int
    landed: int
    troubles: dict[str, int]
    virtual_seconds: float


def run_seed(seed: int) -> Outcome:
    """Live through one seed. Violations are in the outcome, not raised."""
    worlds: list[World] = []

    async def live(simulation: Simulation) -> None:
        worlds.append(World(simulation))
        await worlds[0].live()

    try:
        simulate(seed, live)
    except (Deadlock, TooLong) as problem:
        worlds[0].invariants.violate("I5", str(problem))
    return worlds[0].outcome()


class World:
    """Everything there is in one simulated run."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        dice = simulation.dice("world")
        self.dice = dice
        self.graph = random_graph(dice)
        self.repository = FakeRepository(self.graph.start)
        self.machine = Machine(simulation, self.graph, self.repository)
        self.machine.flake_chance = dice.choice([0.0, 0.0, 0.05])
        self.invariants = Invariants(simulation, self.graph, self.repository, self.machine)
        self.clock = DatabaseClock(simulation)
        self.watched = WatchedStore(
            MemoryStore(self.clock, simulation.now, State(done=DoneTasks(kept=KEPT))),
            self.clock,
            self.invariants,
            self._is_dead,
        )
        self.store = cast(Store, self.watched)  # it passes on what it does not watch, which a type cannot say
        self.people = People(simulation, self.store, self.repository, self.invariants, self.clock)
        self.reviewers = Reviewers(simulation, self.store, self.repository, self.invariants)
        if self.graph.is_in_a_hurry:
            self.reviewers.rules = ReviewRules()
        self.weather = random_weather(dice)
        self.is_auto = dice.random() < 0.5
        self.lane_depth = simulation.dice("lane").choice([2, 3] if self.graph.is_in_a_hurry else [1, 2, 2, 3])
        self.environment = simulation.dice("environment").choice(["here", "here", ""])
        """Mostly checks are tried on main before agents start."""
        self.on_red_main = simulation.dice("red main").choice(["judge", "freeze", "freeze", "revert"])
        self.host = MoodyHost(simulation)
        self.troubles: dict[str, int] = {}
        self.last_trouble = 0.0
        self.is_calm = False
        self.is_quiet = False
        """Calm, and nobody adds facts any more: a run that begins now has the last word."""
        self._incarnations: dict[str, Incarnation] = {}
        self._gates: list[Gate] = []
        self._rested: Engine | None = None
        self.mischief = Mischief(
            simulation, self.people, self._incarnations, self._trouble, self._operate_once
        )
        if self.graph.is_in_a_hurry and simulation.dice("hurry").random() < 0.7:
            # Else trouble comes before any changes have passed as one.
            self.weather, self.mischief.is_for_joint_only = self.weather.calm, True
        self.invariants.on_fact = self.mischief.after_fact
        self.invariants.on_main = self.mischief.after_landing

    async def live(self) -> None:
        """From the first fact to rest."""
        own_tasks(self.simulation.loop)
        self.simulation.loop.set_exception_handler(self._unhandled)
        accepted = f.PlanAccepted("graph", "digest", len(self.graph.tasks), self.graph.leases)
        await self.store.append([accepted], PERSON)
        await self.store.append([f.TaskAccepted(task) for task in self.graph.tasks], PERSON)
        story = asyncio.create_task(self._story())
        broken = asyncio.create_task(self.invariants.broken.wait())
        await asyncio.wait([story, broken], return_when=asyncio.FIRST_COMPLETED, timeout=REST_SECONDS)
        if story.done():
            story.result()
        elif not self.invariants.violations:
            tasks = self.invariants.state.tasks.items()
            left = ", ".join(
                f"{name} {task.stage} {task.phase.name}" for name, task in tasks if not task.is_over
            )
            self.invariants.violate("I5", f"no rest after {REST_SECONDS:.0f} s: {left}")

    async def _story(self) -> None:
        trouble = [
            asyncio.create_task(self._operate("a")),
            asyncio.create_task(self._watch_for_stuck_tasks()),
        ]
        if self.dice.random() < 0.5:
            trouble.append(asyncio.create_task(self._operate("b", self.dice.uniform(5, 60))))
        if self.dice.random() < 0.7:
            trouble.append(asyncio.create_task(self.people.meddle(self.dice.uniform(2, 20))))
        minds = self.simulation.dice("minds")
        if minds.random() < 0.6:
            trouble.append(asyncio.create_task(self.people.change_their_minds(minds.uniform(4, 25))))
        reviews = asyncio.create_task(self.reviewers.review())
        await asyncio.sleep(self.dice.uniform(30, 130))
        self._calm_down()
        for task in trouble[2:]:
            task.cancel()
        await asyncio.sleep(1.0)  # whoever was just about to do something has done it
        await self.people.leave()
        reviews.cancel()
        self.is_quiet = True
        await trouble[0]
        assert self._rested is not None
        log = await self.store.read(0, 1_000_000)
        check_rest(self.invariants, self._rested.state, log, await self.store.load_snapshot())
        trouble[1].cancel()

    def _calm_down(self) -> None:
        self.simulation.note("calm")
        self.is_calm, self.weather = True, self.weather.calm
        self.mischief.is_over = True
        self.machine.flake_chance = 0.0
        self.host.is_calm = True
        for gate in self._gates:
            gate.calm()

    async def _operate(self, name: str, first_after: float = 0.0) -> None:
        """Somebody who starts the engine, again and again, until it rests in calm weather."""
        await asyncio.sleep(first_after)
        number = 0
        while self._rested is None:
            number += 1
            await self._operate_once(f"{name}{number}", 0.0)
            if await self._has_more_after_reviews():
                self._rested = None
            if self._rested is None:
                await asyncio.sleep(self.dice.uniform(0.1, LEASE_SECONDS))

    async def _has_more_after_reviews(self) -> bool:
        """A run has ended where only a person could go on: they decide, and somebody runs it again."""
        return self._rested is not None and await self.reviewers.decide_all()

    async def _operate_once(self, name: str, after: float) -> None:
        await asyncio.sleep(after)
        who = Incarnation(name)
        context = contextvars.copy_context()
        context.run(OWNER.set, who)
        await asyncio.wait([asyncio.create_task(self._one_run(who), context=context)])

    async def _one_run(self, who: Incarnation) -> None:
        self._incarnations[who.name] = who
        options = Options(
            max_parallel=self.graph.max_parallel,
            auto=self.is_auto,
            lane_depth=self.lane_depth,
            environment=self._environment_of(who),
            on_red_main=self.on_red_main,
            joint=self.reviewers.rules.word == NONE,
            selection=self.mischief.selection(self.graph),
            controller_lease_seconds=LEASE_SECONDS,
            stale_seconds=STALE_SECONDS,
            main_seconds=5.0,
        )
        has_last_word = self.is_quiet
        try:
            engine = Engine(self._env(who), options)
            self.mischief.press_keys(engine.request_stop)
            await engine.run()
            run = engine.state.run
            self.simulation.note(f"{who.name} ends: {run and run.ended_why}")
            self._rested = engine if has_last_word and run is not None and not run.stopping else None
        except InterlockError as problem:
            self.simulation.note(f"{who.name} gives up: {type(problem).__name__} {problem}")
        except (Crashed, asyncio.CancelledError):
            self.simulation.note(f"{who.name} is gone")
        except Exception:  # noqa: BLE001 - whatever else the engine raises is a finding, with its traceback
            self.invariants.violate("engine", traceback.format_exc())
        who.alive = False
        self._nothing_broke_unseen(who)

    def _nothing_broke_unseen(self, who: Incarnation) -> None:
        """A task of the engine that nobody waits for must not end in something nobody expects."""
        for task in who.tasks:
            if task.done() and not task.cancelled():
                error = task.exception()
                if error is not None and not isinstance(error, InterlockError | Crashed):
                    self.invariants.violate("engine", "".join(traceback.format_exception(error)))

    def _env(self, who: Incarnation) -> Env:
        gate = Gate(who, self.simulation, self.weather)
        gate.on_trouble = self._trouble
        self._gates.append(gate)
        dice = self.simulation.dice(f"hands of {who.name}")
        executor = FakeExecutor(self.machine, gate.step, lambda: who.alive, dice)
        hands: dict[str, Any] = {  # Any: the gate stands in for hands of every kind
            "store": self.store,
            "repository": self.repository,
            "reverts": self.repository,
            "executor": executor,
            "checker": FakeChecker(self.machine, gate.step, dice),
        }
        gated: dict[str, Any] = {name: Gated(name, hand, gate) for name, hand in hands.items()}
        own: dict[str, Any] = {"new_id": lambda: who.name, "is_dead": self._is_dead, "host": self.host}

        async def environment() -> str:
            return self._environment_of(who)

        async def reduced(tree: Tree, inputs: Sequence[str]) -> Tree:
            return self.repository.only(tree, inputs)

        own |= {"environment": environment, "reduced": reduced}
        measure: Any = Gated("measurer", self.reviewers, gate)  # Any: as above
        own["reviews"] = Reviews(self.reviewers.rules, measure.measure)
        return Env(**gated, **own, lease=executor.lease)

    def _environment_of(self, who: Incarnation) -> str:
        """Between two runs somebody may have installed something."""
        dice = self.simulation.dice(f"environment of {who.name}")
        return self.environment and dice.choice([self.environment, self.environment, "there"])

    def _is_dead(self, holder: str) -> bool:
        return holder in self._incarnations and not self._incarnations[holder].alive

    def _trouble(self, kind: str) -> bool:
        word = kind.partition(" ")[0]
        if word == "crash" and self.troubles.get("crash", 0) >= MAX_CRASHES:
            return False
        self.troubles[word] = self.troubles.get(word, 0) + 1
        self.last_trouble = self.simulation.now()
        return True

    async def _watch_for_stuck_tasks(self) -> None:
        """I5: a task whose holder has been gone for a lease and some grace is taken up by somebody."""
        while True:
            await asyncio.sleep(10.0)
            self.invariants.work_is_kept()
            patience = STALE_SECONDS + 4 * LEASE_SECONDS + GRACE_SECONDS
            if not self.is_calm or self.simulation.now() - self.last_trouble < patience:
                continue
            for name in sorted(self.invariants.state.index.running):
                overdue = self.watched.overdue_seconds(task_resource(name))
                if overdue > GRACE_SECONDS:
                    self.invariants.violate("I5", f"{name} runs, and its lease ended {overdue:.0f} s ago")

    def _unhandled(
        self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:  # Any: as asyncio has it
        error = context.get("exception")
        if not isinstance(error, Crashed):
            text = "".join(traceback.format_exception(error)) if error else ""
            self.invariants.violate("engine", f"{context.get('message')} {text}")

    def outcome(self) -> Outcome:
        return Outcome(
            self.simulation.seed,
            tuple(self.invariants.violations),
            self.simulation.trace_hash,
            tuple(self.simulation.lines),
            len(self.invariants.rows),
            len(self.graph.tasks),
            self.invariants.state.index.counts.get(Stage.DONE, 0),
            self.troubles,
            self.simulation.now(),
        )
