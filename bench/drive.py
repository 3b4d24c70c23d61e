"""A whole run without hands: facts are folded, board and lane decide, and time is counted but not spent."""

from collections.abc import Iterable
from heapq import heappop, heappush
from time import thread_time

from bench.world import World
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.overlaps import Overlaps
from interlock.events.record import Recorded, seal
from interlock.events.state import State, TaskState
from interlock.model.forecast import Beside
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, said
from interlock.model.task import Commit, PhaseKind, Task, TaskId
from interlock.schedule import Board
from interlock.train import moves


class Drive:
    """Runs tasks to their end in virtual time, as the world has it; checks and landings take none."""

    def __init__(
        self,
        tasks: Iterable[Task],
        slots: int,
        world: World | None = None,
        learned: Overlaps | None = None,
    ) -> None:
        """`learned` is what earlier runs have counted, and goes on counting here."""
        self.state = State()
        self.state.learned.overlaps = learned or self.state.learned.overlaps
        self.slots = slots
        self.now = 0.0
        self.work = 0.0
        """Seconds that agents were at work."""
        self.conflicts = 0
        self.rows: list[Recorded] = []
        self.decisions: list[float] = []
        """CPU seconds per fact for index and decision, folding not included. Wall time would mostly show who
        else is busy on the machine: a decision is far shorter than a time slice."""
        self._world = world or World()
        self._busy = 0
        self._ends: list[tuple[float, TaskId]] = []
        self._began: dict[TaskId, int] = {}
        self._landed: list[TaskId] = []
        for task in tasks:
            self._fold(f.TaskAccepted(task))
        self._fold(f.RunStarted("bench", "bench", 1, slots))
        self.board = Board(self.state)

    def run(self, facts: int | None = None) -> float:
        """Go on until everything has landed, or for so many facts; the virtual time it took."""
        steps = self._tell()
        while facts is None or self.state.seq < facts:
            if steps:
                steps = self._start(steps[0])
            elif self._ends:
                self.now, name = heappop(self._ends)
                self._busy -= 1
                steps = self._tell(self._passed(self.state.tasks[name]))
            else:
                break
        return self.now

    def _tell(self, fact: f.Fact | None = None) -> list[f.PhaseStarted]:
        changed = self._fold(fact) if fact else set()
        start = thread_time()
        self.board.update(changed)
        lane = moves(self.state, self.now).starts
        chosen = self.board.choose(self.slots - self._busy, self.now)
        self.decisions.append(thread_time() - start)
        return [self._claim(move.task, move.why) for move in lane] + [
            self._claim(choice.task, choice.why, choice.beside) for choice in chosen
        ]

    def _claim(self, name: TaskId, why: Reason, beside: tuple[Beside, ...] = ()) -> f.PhaseStarted:
        task = self.state.tasks[name]
        attempt = task.attempt + (task.phase.kind is PhaseKind.AGENT)
        return f.PhaseStarted(name, attempt, task.phase.name, task.epoch + 1, "bench", why, "", beside)

    def _fold(self, fact: f.Fact) -> set[TaskId]:
        row = seal(self.state.hash, self.state.seq + 1, self.now, "bench", fact)
        self.rows.append(row)
        return apply(self.state, row)

    def _start(self, started: f.PhaseStarted) -> list[f.PhaseStarted]:
        task = self.state.tasks[started.task]
        if task.phase.kind is PhaseKind.AGENT:
            seconds = self._world.seconds(task.spec, started.attempt)
            self._busy += 1
            self.work += seconds
            self._began[started.task] = len(self._landed)
            heappush(self._ends, (self.now + seconds, started.task))
            return self._tell(started)
        self._tell(started)
        since = self._landed[self._began[started.task] :]
        if task.phase.kind is PhaseKind.CHECK and self._world.conflicts(task.spec, since):
            self.conflicts += 1
            where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
            return self._tell(f.PhaseFailed(*where, error=ErrorClass.CONFLICT, why=said("conflict")))
        if task.phase.kind is PhaseKind.LAND:
            self._landed.append(task.spec.id)
        return self._tell(self._passed(task))

    def _passed(self, task: TaskState) -> f.PhasePassed:
        where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
        commit = Commit(f"{task.spec.id}-{task.attempt}")
        if task.phase.kind is PhaseKind.AGENT:
            seconds = self._world.seconds(task.spec, task.attempt)
            return f.WorkFinished(*where, commit=commit, seconds=seconds)
        if task.phase.kind is PhaseKind.CHECK:
            return f.CandidatePassed(*where, commit=commit)
        return f.Landed(*where, commit=commit)
