"""A whole run without hands: facts are folded, board and lane decide, and time is counted but not spent."""

from collections.abc import Iterable
from heapq import heappop, heappush
from time import thread_time

from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.record import Recorded, seal
from interlock.events.state import State, TaskState
from interlock.merge import moves
from interlock.model.task import Commit, PhaseKind, Task, TaskId
from interlock.schedule import Board


class Drive:
    """Runs tasks to their end in virtual time; each takes its estimate, checks and landings take none."""

    def __init__(self, tasks: Iterable[Task], slots: int) -> None:
        self.state = State()
        self.slots = slots
        self.now = 0.0
        self.rows: list[Recorded] = []
        self.decisions: list[float] = []
        """CPU seconds per fact for index and decision, folding not included. Wall time would mostly show who
        else is busy on the machine: a decision is far shorter than a time slice."""
        self._busy = 0
        self._ends: list[tuple[float, TaskId]] = []
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

    def _tell(self, fact: f.Fact | None = None) -> list[TaskId]:
        changed = self._fold(fact) if fact else set()
        start = thread_time()
        self.board.update(changed)
        lane = [move.task for move in moves(self.state, self.now)]
        chosen = [choice.task for choice in self.board.choose(self.slots - self._busy, self.now)]
        self.decisions.append(thread_time() - start)
        return lane + chosen

    def _fold(self, fact: f.Fact) -> set[TaskId]:
        row = seal(self.state.hash, self.state.seq + 1, self.now, "bench", fact)
        self.rows.append(row)
        return apply(self.state, row)

    def _start(self, name: TaskId) -> list[TaskId]:
        task = self.state.tasks[name]
        with_agent = task.phase.kind is PhaseKind.AGENT
        attempt = task.attempt + with_agent
        started = f.PhaseStarted(name, attempt, task.phase.name, task.epoch + 1, "bench")
        if with_agent:
            self._busy += 1
            heappush(self._ends, (self.now + task.spec.estimate_seconds, name))
            return self._tell(started)
        self._tell(started)
        return self._tell(self._passed(task))

    @staticmethod
    def _passed(task: TaskState) -> f.PhasePassed:
        where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
        commit = Commit(f"{task.spec.id}-{task.attempt}")
        if task.phase.kind is PhaseKind.AGENT:
            return f.WorkFinished(*where, commit=commit)
        if task.phase.kind is PhaseKind.CHECK:
            return f.CandidatePassed(*where, commit=commit)
        return f.Landed(*where, commit=commit)
