"""A kind of work with a hidden optimum: runs in virtual time, with the real log, board and clutch.

What happens to an attempt depends on how many agents were at work beside it, as a `Curve` has it. Nothing but
facts reaches the clutch.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from interlock.engine.clutch import Clutch
from interlock.engine.host import IdleHost
from interlock.engine.options import Options
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.record import seal
from interlock.events.state import State, TaskState
from interlock.learn.clutch import PRICE
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, Commit, PhaseKind, Task, TaskId, Tree
from interlock.schedule import Board

AGENT = Agent("bench", "command", ("true",))
CATEGORY = "backend"
MOST = 16
SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Curve:
    """What so many agents at once do to each other."""

    name: str
    lands: Callable[[float], float]
    """The chance that an attempt lands."""
    slows: Callable[[float], float] = lambda _: 1.0
    """How much longer an attempt takes."""

    def value(self, agents: float) -> float:
        """Landed an hour less the price of the agents, as `learn.clutch` has it."""
        alone = 3_600 / SECONDS * self.lands(1) / self.slows(1)
        return agents * (3_600 / SECONDS * self.lands(agents) / self.slows(agents) - PRICE * alone)

    @property
    def best(self) -> int:
        return max(range(1, MOST + 1), key=self.value)


def knee(at: int) -> Curve:
    return Curve(f"knee at {at}", lambda w: 0.85 * min(1.0, (at / w) ** 2))


CURVES = (
    knee(2),
    knee(5),
    knee(10),
    Curve("slow decline", lambda w: 0.9 * 0.9 ** (w - 1)),
    Curve("steep decline", lambda w: 0.9 * 0.7 ** (w - 1)),
    Curve("hard work, knee at 4", lambda w: 0.45 * min(1.0, (4 / w) ** 2)),
    Curve("crowded server from 6", lambda _: 0.8, lambda w: max(1.0, w / 6) ** 1.5),
    Curve("no limit", lambda _: 0.85),
)


@dataclass(slots=True)
class Result:
    """What a run came to."""

    landed: int = 0
    hours: float = 0.0
    agent_hours: float = 0.0
    attempts: int = 0

    def value(self, curve: Curve) -> float:
        alone = 3_600 / SECONDS * curve.lands(1) / curve.slows(1)
        return (self.landed - PRICE * alone * self.agent_hours) / self.hours


class Workshop:
    """One project over its runs."""

    def __init__(self, curve: Curve, seed: int) -> None:
        self.state = State()
        self.now = 0.0
        self._curve = curve
        self._dice = random.Random(seed)
        self._runs = 0
        self._window = 1.0
        """Of the rule that adds and halves, for comparison."""

    def run(self, tasks: int, options: Options, additive: bool = False) -> Result:
        """One run of that many tasks; with `additive` the number follows AIMD on trouble alone."""
        self._runs += 1
        for number in range(tasks):
            self._tell(f.TaskAccepted(Task(TaskId(f"r{self._runs}-{number}"), "", AGENT, category=CATEGORY)))
        self._tell(f.RunStarted(f"run{self._runs}", "bench", self._runs, options.max_parallel))
        self._tell(f.ClutchDecided(options.max_parallel, "max-parallel", None))
        board, clutch, began = Board(self.state, self.now), Clutch(IdleHost(), options), self.now
        result, left = Result(), dict[TaskId, float]()
        while True:
            for fact in clutch.ask(self.state, self.now):
                self._tell(fact, board)
            limit = max(1, int(self._window)) if additive else options.max_parallel
            for choice in board.choose(limit - len(self.state.index.running), self.now):
                self._start(choice.task, board)
                result.attempts += 1
                left[choice.task] = SECONDS * self._dice.lognormvariate(0.0, 0.5) / 1.133  # its mean is 1
            if not left:
                break
            name = min(left, key=left.__getitem__)
            seconds, slower = left.pop(name), self._curve.slows(len(left) + 1)
            left = {other: more - seconds for other, more in left.items()}
            self.now += seconds * slower
            self._end(name, board, result)
        result.hours = (self.now - began) / 3_600
        return result

    def _start(self, name: TaskId, board: Board) -> None:
        task = self.state.tasks[name]
        attempt = task.attempt + (task.phase.kind is PhaseKind.AGENT)
        self._tell(f.PhaseStarted(name, attempt, task.phase.name, task.epoch + 1, "bench"), board)

    def _end(self, name: TaskId, board: Board, result: Result) -> None:
        """The agent is done; its change lands, or is sent back."""
        task = self.state.tasks[name]
        result.agent_hours += (self.now - task.since) / 3_600
        since, area = (
            (task.session.shift.since, task.session.shift.area) if task.session.shift else (0.0, 0.0)
        )
        self._tell(f.WorkFinished(*_key(task), commit=Commit(name), seconds=self.now - task.since), board)
        gauge = self.state.learned.tallies.gauges[CATEGORY]
        beside = (gauge.area - area) / max(1e-9, self.now - since)
        self._start(name, board)
        if self._dice.random() < self._curve.lands(max(1.0, beside)):
            self._window += 1 / self._window
            result.landed += 1
            self._tell(f.CandidatePassed(*_key(task), commit=Commit(name), tree=Tree(name)), board)
            self._start(name, board)
            self._tell(f.Landed(*_key(task), commit=Commit(name)), board)
        else:
            self._window = max(1.0, self._window / 2)
            self._tell(f.PhaseFailed(*_key(task), error=ErrorClass.CONFLICT, why=said("conflict")), board)

    def _tell(self, fact: f.Fact, board: Board | None = None) -> None:
        changed = apply(self.state, seal(self.state.hash, self.state.seq + 1, self.now, "bench", fact))
        if board:
            board.update(changed)


def _key(task: TaskState) -> tuple[TaskId, int, str, int]:
    return task.spec.id, task.attempt, task.phase.name, task.epoch
