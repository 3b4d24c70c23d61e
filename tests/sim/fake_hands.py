"""Agents and checks without processes: they take virtual time and do what their script says.

Rules:
1. An agent belongs to the machine, not to the engine that started it: it lives on while its engine is paused
   or dead, until its lease ends, which is before the claim's lease does.
2. What an agent has written stays in its workspace until it was imported under a ref.
3. Every await that production code would also have is a `step`, where faults may strike.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from interlock.model.errors import StaleEpoch
from interlock.model.outcome import Asking, AttemptCallbacks, CheckResult, ErrorClass, Order, Report
from interlock.model.process import Lease
from interlock.model.session import SessionNotes
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import AttemptKey, Commit, Tree
from interlock.model.usage import Usage
from interlock.verify.protocol import CheckOrder, RunningCheck
from tests.sim.fake_git import FakeRepository, Files
from tests.sim.graph import Act, Graph, edits, runs, tests_of
from tests.sim.loop import Simulation

LEASE_SHARE = 0.9
"""Of the claim's lease, how much the agent gets: it must be gone before somebody else starts."""
LATE_SECONDS = 40.0

Step = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Seat:
    """One agent at work, and the workspace it works in."""

    order: Order
    started: float
    deadline: float
    alive: bool = True
    how: str = ""
    """Why it is no longer alive."""
    made: Commit | None = None
    """What the workspace holds, if the agent has changed anything."""
    ref: str = ""
    """Where that was imported to."""
    price: int = 0
    """Tokens it uses with each call. No two seats use the same, so that no two are taken for each other."""
    usage: Usage = field(default_factory=Usage)
    """What it has used so far: it grows for as long as the agent lives, whoever watches."""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def call(self) -> None:
        """Ask its model once more."""
        self.usage += Usage(self.price, 1, calls=1, cost_usd=1.0)


class Machine:
    """Where agents live: their processes and their workspaces."""

    def __init__(self, simulation: Simulation, graph: Graph, repository: FakeRepository) -> None:
        self.simulation, self.graph, self.repository = simulation, graph, repository
        self.dice = simulation.dice("machine")
        self.seats: list[Seat] = []
        self.on_start: Callable[[Seat], None] = lambda _seat: None
        self.on_check: Callable[[CheckOrder], None] = lambda _order: None
        self.on_read: Callable[[str, Files], None] = lambda _command, _files: None
        self.tested: dict[Tree, dict[str, bool]] = {}
        """Which checks have run on trees with these files, and whether they ever passed there."""
        self.flake_chance = 0.0
        self.given_up: set[AttemptKey] = set()
        """Attempts that were recovered here: they never start any more."""
        self._processes: list[asyncio.Task[None]] = []

    def launch(self, order: Order, lease: Lease) -> Seat:
        """Start an agent, unless its lease is over or it was given up: then whoever asks is a zombie."""
        if order.key in self.given_up:
            raise StaleEpoch(f"{order.task}/{order.attempt} was given up before its agent started")
        now, left = self.simulation.now(), lease.left(f"{order.task}/{order.attempt}")
        seat = Seat(order, now, now + left * LEASE_SHARE)
        seat.price = len(self.seats) + 1
        seat.call()
        self.simulation.note(f"agent {order.task}/{order.attempt} starts on {order.base[:8]}")
        self.on_start(seat)
        self.seats.append(seat)
        # Not in the engine's name: it does not end with it.
        self._processes.append(asyncio.create_task(self._live(seat), context=contextvars.Context()))
        return seat

    def give_up(self, key: AttemptKey) -> None:
        self.given_up.add(key)

    def alive(self) -> list[Seat]:
        return [seat for seat in self.seats if seat.alive]

    def find(self, key: AttemptKey) -> Seat | None:
        return next((seat for seat in reversed(self.seats) if seat.order.key == key), None)

    def end(self, seat: Seat, how: str) -> None:
        if seat.alive:
            seat.alive, seat.how = False, how
            self.simulation.note(f"agent {seat.order.task}/{seat.order.attempt} ends: {how}")
            seat.over.set()

    def orphan(self, seat: Seat) -> None:
        """The engine died: the supervisor sees its pipe close, now or (if it is slow) when the lease ends."""
        if self.dice.random() < 0.5:
            self.end(seat, "parent is gone")

    def archive(self, seat: Seat) -> str:
        """Import what the workspace holds, under a ref of its own."""
        if seat.made is not None:
            seat.ref = f"refs/interlock/{seat.order.task}/{seat.order.attempt}"
            self.repository.keep(seat.ref, seat.made)
        return seat.ref

    async def _live(self, seat: Seat) -> None:
        order, script = seat.order, self.graph.scripts[seat.order.task]
        act = script.act(order.attempt)
        await self._pass(seat, script.seconds / 2)
        if seat.alive:
            seat.call()
        if seat.alive and act is not Act.IDLES:
            self._write(seat, {f"draft/{order.task}": f"attempt {order.attempt}"})
        await self._pass(seat, script.seconds)
        if seat.alive and act in (Act.WORKS, Act.WRONG, Act.BREAKS):
            self._write(seat, edits(order.task, script, act, self.repository.files(order.base)))
        if act is Act.HANGS:
            await self._pass(seat, order.timeout_seconds)
        if act is Act.SILENT:
            await self._pass(seat, script.seconds / 2 + order.idle_seconds)
        self.end(seat, act)

    async def _pass(self, seat: Seat, until: float) -> None:
        """Let time pass until so long after the start, or the end of the lease."""
        finish = seat.started + until
        while seat.alive and (wait := self._left(seat, finish)) > 1e-9:  # noqa: ASYNC110 - it waits for time itself
            await asyncio.sleep(wait)
        if seat.alive and seat.deadline < finish:
            self.end(seat, "lease")

    def _left(self, seat: Seat, finish: float) -> float:
        """Asked again after every wait: the lease may have been moved meanwhile."""
        return min(finish, seat.deadline) - self.simulation.now()

    def _write(self, seat: Seat, changes: dict[str, str]) -> None:
        message = f"work of {seat.order.task}/{seat.order.attempt}\n"
        seat.made = self.repository.write(changes, seat.order.base, message)


class FakeExecutor:
    """One engine's way to the machine. Implements `interlock.run.protocol.Executor`."""

    def __init__(self, machine: Machine, step: Step, is_alive: Callable[[], bool], dice: Random) -> None:
        self.machine, self._step, self._is_alive, self._dice = machine, step, is_alive, dice
        self.lease = Lease(machine.simulation.now, self._renewed)
        self._seats: list[Seat] = []

    async def carry_out(self, order: Order, news: AttemptCallbacks) -> Report:
        await news.opened(order.session, "none", order.base)
        seat = self.machine.launch(order, self.lease)
        self._seats.append(seat)
        try:
            await seat.over.wait()
        except asyncio.CancelledError:
            if self._is_alive():
                self.machine.end(seat, "cancelled")
            else:
                self.machine.orphan(seat)
            raise
        await news.exited()
        await self._step("executor.import")
        self.machine.archive(seat)
        await self._step("executor.report")
        if self._dice.random() < 0.02:
            await asyncio.sleep(self._dice.uniform(0, LATE_SECONDS))
        return self._report(seat)

    def _renewed(self, seconds: float) -> None:
        for seat in self._seats:
            if seat.alive:
                seat.deadline = max(seat.deadline, self.machine.simulation.now() + seconds * LEASE_SHARE)

    def last_line(self, key: AttemptKey) -> str:
        seat = self.machine.find(key)
        return "at work" if seat is not None and seat.alive else ""

    def say(self, key: AttemptKey, text: str) -> bool:
        seat = self.machine.find(key)
        return bool(text) and seat is not None and seat.alive

    def answer(self, key: AttemptKey, call: str, allow: bool) -> bool:
        return False

    def widen(self, key: AttemptKey, paths: tuple[str, ...], granted: bool, why: str) -> bool:
        seat = self.machine.find(key)
        return bool(paths and why) and seat is not None and seat.alive

    def notes(self, key: AttemptKey) -> SessionNotes | None:
        seat = self.machine.find(key)
        path = f"logs/{key.task}/{key.attempt}.notes.json"
        return SessionNotes(str(seat.how or "lost"), "", path) if seat else None

    def spent(self, key: AttemptKey) -> Usage | None:
        seat = self.machine.find(key)
        return seat.usage if seat else None

    async def recover(self, key: AttemptKey, why: str = "lost") -> str:
        self.machine.give_up(key)
        seat = self.machine.find(key)
        if seat is None:
            return ""
        self.machine.end(seat, "recovered")
        await self._step("executor.archive")
        return self.machine.archive(seat)

    def _report(self, seat: Seat) -> Report:
        order = seat.order
        script = self.machine.graph.scripts[order.task]
        error = _ERRORS.get(seat.how, ErrorClass.EXIT)
        kept = None if seat.how == Act.IDLES else seat.made
        words = f"{seat.how} {self._dice.choice(_MOODS) if script.moody else ''}".strip()
        return Report(
            order.task,
            order.attempt,
            order.base,
            error=error,
            summary=words,
            exit_code=0 if error is None else 1,
            commit=kept,
            touched=self._touched(seat),
            tail=words,
            seconds=self.machine.simulation.now() - seat.started,
            archived=seat.ref,
            session=order.session,
            usage=seat.usage,
            asks=Asking("which one?", is_explicit=True) if seat.how == Act.ASKS else None,
        )

    def _touched(self, seat: Seat) -> tuple[str, ...]:
        if seat.made is None:
            return ()
        before, after = (
            self.machine.repository.files(seat.order.base),
            self.machine.repository.files(seat.made),
        )
        return tuple(path for path in sorted({*before, *after}) if before.get(path) != after.get(path))


_ERRORS: dict[str, ErrorClass | None] = {
    Act.WORKS: None,
    Act.WRONG: None,
    Act.ASKS: None,
    Act.BREAKS: None,
    Act.EXITS: ErrorClass.EXIT,
    Act.HANGS: ErrorClass.TIMEOUT,
    Act.SILENT: ErrorClass.IDLE,
    Act.IDLES: ErrorClass.NO_CHANGE,
    "lease": ErrorClass.OUTSIDE,
}
_MOODS = ("angry", "blue", "calm", "dull", "eager", "fair", "glum", "happy")


class FakeChecker:
    """Evaluates the project's checks on a tree. Implements `interlock.verify.protocol.Checker`."""

    def __init__(self, machine: Machine, step: Step, dice: Random) -> None:
        self.machine, self._step, self._dice = machine, step, dice

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        self.machine.on_check(order)
        return [await self._run(order, command) for command in order.commands]

    def running(self) -> Sequence[RunningCheck]:
        return ()

    async def _run(self, order: CheckOrder, command: str) -> CheckResult:
        seconds = self._dice.uniform(0.1, 4.0)
        await asyncio.sleep(seconds)
        await self._step("checker.evidence")
        files = self._seen(order, command)
        self.machine.on_read(command, files)
        tests = tests_of(command, files)
        if self._dice.random() < self.machine.flake_chance:
            tests[self._dice.choice(sorted(tests))] = False
        green = runs(command, files) and all(tests.values())
        tree = self.machine.repository.only(order.tree, order.inputs.get(command, ()))
        said = self.machine.tested.setdefault(tree, {})
        said[command] = green or said.get(command, False)  # a zombie's flake takes nothing back
        if not runs(command, files):
            return CheckResult(command, 127, seconds, "not found", unable=Unable.PROGRAM, about=command)
        passed, failed = (
            tuple(name for name, good in tests.items() if good is want) for want in (True, False)
        )
        suite = SuiteResult(passed, failed, len(passed), len(failed))
        return CheckResult(
            command, 0 if green else 1, seconds, "" if green else f"{command} is red", suite=suite
        )

    def _seen(self, order: CheckOrder, command: str) -> Files:
        """The files that a command finds in its folder."""
        repository = self.machine.repository
        return repository.trees[repository.only(order.tree, order.inputs.get(command, ()))]
