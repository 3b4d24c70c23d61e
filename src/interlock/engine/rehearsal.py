"""A run in the mind: the real fold, board and lane on a copy of State, in time that is counted, not spent.

The caller says how each attempt goes (`Script`); the order of starts follows from the code that decides it
in a real run. Nothing is written anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from interlock.engine.decide import decide
from interlock.engine.judging import commands_of
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Builds
from interlock.events.task_parts import Review
from interlock.model.numbers import bounded
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import Reason, said
from interlock.model.step import Start, StartBuild, Step, Stop, UnderWay, build_slot
from interlock.model.task import Commit, Joined, PhaseKind, TaskId, Tree
from interlock.model.usage import Usage
from interlock.schedule import Board
from interlock.train import results_known, retry

ENDLESS = 200
"""Starts per task after which a rehearsal is given up: a script that never lets anything land."""

OVERDUE = 0.25
"""Share by which an overdue attempt is expected to go on."""


@dataclass(frozen=True, slots=True)
class Fate:
    """The course of one attempt."""

    seconds: float
    """Agent time."""
    lands: bool = True
    check_seconds: float = 0.0
    cost_usd: float = 0.0


Script = Callable[[TaskState, int], Fate]
"""The fate of an attempt at a task, by its number."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The result of a rehearsal."""

    seconds: float
    """Time from now to the last landing."""
    cost_usd: float
    attempts: int
    ends: dict[TaskId, float] = field(default_factory=dict)
    """Time of each task's landing, from now."""
    left: int = 0
    """Tasks that did not land."""


class _Imagined(Recorded):
    """A row that is in no log: its fact need not be decoded."""

    __slots__ = ("_fact",)

    def __init__(self, seq: int, time: float, fact: f.Fact) -> None:
        Recorded.__init__(self, seq, time, "rehearsal", type(fact).__name__, "", "")
        object.__setattr__(self, "_fact", fact)

    @property
    def fact(self) -> f.Fact:
        return self._fact  # type: ignore[attr-defined,no-any-return]  # set in __init__, past the frozen class


def imagined(state: State, time: float, fact: f.Fact) -> Recorded:
    """A fact as if it came next."""
    return _Imagined(state.seq + 1, bounded(time), fact)


def copied(state: State) -> State:
    """A state that may be spoiled."""
    return Copies(state).next()


class Copies:
    """Makes copies of a state."""

    def __init__(self, state: State) -> None:
        self._hash = state.hash
        self._packed = pack(replace(state, done=replace(state.done, packed={})))
        self._finished = state.done.packed.copy()  # a packed one never changes

    def next(self) -> State:
        """Another one."""
        copy = unpack(self._packed, self._hash)
        assert copy is not None  # noqa: S101 - packed by the same version, with the same hash
        copy.done.packed = self._finished.copy()
        return copy


def unfinished(state: State) -> State:
    """Return a copy without the tasks that are over: no task waits for them. Limits and tallies stay."""
    copy = copied(state)
    copy.tasks = {name: task for name, task in copy.tasks.items() if not task.is_over}
    copy.done.packed, copy.done.recent = {}, {}
    copy.checks.baselines = {}
    index = copy.index
    index.dependents = {
        name: [other for other in others if other in copy.tasks]
        for name, others in index.dependents.items()
        if name in copy.tasks
    }
    index.leftovers &= copy.tasks.keys()
    index.reconcile &= copy.tasks.keys()
    index.exclusive &= copy.tasks.keys()
    index.leased &= copy.tasks.keys()
    return copy


class Rehearsal:
    """One way that the rest of a run may go. `state` is used up."""

    def __init__(self, state: State, now: float, script: Script) -> None:
        self.state = state
        self._start = self._now = now
        self._script = script
        self._fates: dict[TaskId, Fate] = {}
        self._ends: list[tuple[float, TaskId, int]] = []
        """When what ends: a phase of a task, or in a slot the build with this epoch."""
        self._builds = 0
        self._busy: dict[TaskId, UnderWay] = {}
        self._cost = 0.0
        self._attempts = 0
        self._landed: dict[TaskId, float] = {}
        self._last = now
        if state.run:  # how checks end on main is for the real run to find out
            state.run.environment = ""
        state.checks.baselines = {}
        state.builds = Builds()
        state.done.kept = len(state.tasks)  # to pack tasks is of no use here
        self._board = Board(state, now)

    def begin(self, slots: int, selection: tuple[TaskId, ...] | None = None, lane_depth: int = 1) -> None:
        """Begin a run, as `interlock run` would now."""
        joint = self.state.run is not None and self.state.run.joint
        self._fold(
            f.RunStarted("rehearsal", "rehearsal", 1, slots, selection, lane_depth=lane_depth, joint=joint)
        )

    def run(self) -> Outlook:
        """Rehearse to the end."""
        self._go_on()
        budget = ENDLESS * max(1, len(self.state.tasks))
        while budget:
            budget -= 1
            steps = decide(self.state, self._board, self._now, self._busy)
            taken = [step for step in steps if self._take(step)]
            if not taken and not self._pass_time():
                break
        left = sum(
            not task.is_over for name, task in self.state.tasks.items() if self.state.is_selected(name)
        )
        return Outlook(self._last - self._start, self._cost, self._attempts, self._landed, left)

    def _go_on(self) -> None:
        """Let the agents that are at work go on, for the time they have left."""
        for name in sorted(self.state.index.running):
            task = self.state.tasks[name]
            fate = self._fate(task, task.attempt)
            whole = fate.seconds if task.phase.kind is PhaseKind.AGENT else fate.check_seconds
            passed = self._now - task.since
            self._busy[name] = UnderWay()
            left = whole - passed if passed < whole else passed * OVERDUE
            heappush(self._ends, (self._now + left, name, 0))

    def _take(self, step: Step) -> bool:
        """Carry a step out, if it is one that takes time or ends something."""
        match step:
            case Start():
                self._begin(step)
            case StartBuild():
                self._begin_build(step)
            case Stop() if self._busy[step.task].is_build:
                self._end_build(step.task, said("stopped"))
            case _:
                return False
        return True

    def _begin_build(self, step: StartBuild) -> None:
        self._builds += 1
        what = (step.change, step.slot, self._builds, step.ahead, step.works, step.main)
        self._fold(f.BuildStarted(*what, "rehearsal", step.why, step.batch))
        self._busy[step.task] = UnderWay(epoch=self._builds, can_stop=True, is_build=True)
        seconds = self._fate_of(step.change).check_seconds
        heappush(self._ends, (self._now + seconds, step.task, self._builds))

    def _end_build(self, name: TaskId, why: Reason | None = None) -> None:
        """End a build. It is green if every change in it will land."""
        self._busy.pop(name)
        slot = next(slot for slot in self.state.builds.running if build_slot(slot) == name)
        build = self.state.builds.running[slot]
        names = (*build.ahead, build.task)
        lands = all(self._fate_of(each).lands for each in names)
        red = () if lands else (CheckResult("", 1),)
        specs = [self.state.tasks[each].spec for each in names[-build.batch :]]
        green = tuple(CheckResult(command, 0) for command in commands_of(*specs))
        joint = green if lands and build.ahead else ()
        self._fold(f.BuildEnded(build.task, slot, build.epoch, checks=red, joint=joint, why=why))

    def _begin(self, step: Start) -> None:
        task = self.state.tasks[step.task]
        kind = task.phase.kind
        key = (step.task, step.attempt, step.phase, task.epoch + 1)
        is_known = bool(step.together) or results_known(self.state, step.task) is not None
        self._fold(f.PhaseStarted(*key, "rehearsal", leased=step.leased, together=step.together))
        self._busy[step.task] = UnderWay()
        if kind is PhaseKind.AGENT:
            fate = self._fate(task, step.attempt)
            self._attempts += 1
            self._cost += fate.cost_usd
            seconds = fate.seconds
        else:
            fate = self._fate_of(step.task)
            seconds = fate.check_seconds if kind is PhaseKind.CHECK and not is_known else 0.0
        heappush(self._ends, (self._now + seconds, step.task, 0))

    def _fate(self, task: TaskState, attempt: int) -> Fate:
        fate = self._fates[task.spec.id] = self._script(task, attempt)
        return fate

    def _fate_of(self, name: TaskId) -> Fate:
        """The fate of the attempt that a task has had."""
        task = self.state.tasks[name]
        return self._fates.get(name) or self._fate(task, task.attempt)

    def _pass_time(self) -> bool:
        """Go to the next thing that happens; False if nothing does."""
        wakeup = self._board.next_wakeup(self._now)
        if not self._ends or (wakeup is not None and wakeup < self._ends[0][0]):
            if wakeup is None or wakeup <= self._now:
                return False
            self._now = wakeup
            return True
        self._now, name, epoch = heappop(self._ends)
        if name not in self._busy or self._busy[name].epoch != epoch:  # a build that was stopped
            return True
        if epoch:
            self._end_build(name)
        else:
            self._busy.pop(name)
            self._end(self.state.tasks[name])
        return True

    def _end(self, task: TaskState) -> None:
        key = (task.spec.id, task.attempt, task.phase.name, task.epoch)
        made, review = task.change.candidate, task.change.review
        is_landing = task.phase.kind is PhaseKind.LAND
        commit = made.commit if is_landing and made else _commit(task)
        if task.stage is not Stage.RUNNING:
            return
        if is_landing and made and review and review.commit == made.commit and not review.approved:
            self._fold(_still_open(key, review))
            return
        fate = self._fates[task.spec.id]
        if task.phase.kind is PhaseKind.AGENT:
            self._fold(
                f.WorkFinished(*key, commit=commit, seconds=fate.seconds, usage=Usage(cost_usd=fate.cost_usd))
            )
        elif is_landing:
            self._land(task, commit)
        elif task.change.together:
            self._join(task, commit)
        elif fate.lands:
            main = self.state.main.commit
            self._fold(f.CandidatePassed(*key, base=main, commit=commit, seconds=fate.check_seconds))
        else:
            # Each fails in its own way: that the same failure comes twice is not for a rehearsal to say.
            red = f.PhaseFailed(
                *key,
                error=ErrorClass.CHECK,
                fingerprint=f"{self._attempts}",
                seconds=fate.check_seconds,
            )
            end = retry.give_up(task, red)
            self._fold(red)
            if end:
                self._fold(end)
                self._last = self._now

    def _land(self, task: TaskState, commit: Commit) -> None:
        base = self.state.main.commit
        for name in task.change.together or (task.spec.id,):
            its = self.state.tasks[name]
            self._fold(f.Landed(name, its.attempt, task.phase.name, its.epoch, base=base, commit=commit))
            self._landed[name] = self._now - self._start
        self._fold(f.MainSeen(self.state.main.branch, commit, Tree("")))
        self._last = self._now

    def _join(self, lead: TaskState, commit: Commit) -> None:
        """Let the changes of a joint check pass as one."""
        main, names = self.state.main.commit, lead.change.together
        for name in names:
            its = self.state.tasks[name]
            key = (name, its.attempt, lead.phase.name, its.epoch)
            joined = Joined(_commit(its), main, names)
            self._fold(f.CandidateJoined(*key, base=main, commit=commit, joined=joined))

    def _fold(self, fact: f.Fact) -> None:
        self._board.update(apply(self.state, imagined(self.state, self._now, fact)))


def _still_open(key: retry.PhaseKey, review: Review) -> f.ReviewOpened:
    """The review goes on: no person decides in a rehearsal."""
    return f.ReviewOpened(*key, review.digest, review.work, review.base, review.commit, review.why)


def _commit(task: TaskState) -> Commit:
    return Commit(f"{task.spec.id}-{task.attempt}")
