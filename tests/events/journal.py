"""A log in memory, and ways to fill it: by hand, or by whatever numbers Hypothesis comes up with."""

from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded, seal
from interlock.events.state import State, TaskState
from interlock.model.leases import Leasable, Leased
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, Commit, PhaseKind, Task, TaskId, Tree

AGENT = Agent("scripted", "command", ("true",))
NAMES = tuple(map(TaskId, "abcdef"))


class Journal:
    """Facts in order, and the state they have led to."""

    def __init__(self, *specs: Task) -> None:
        self.state = State()
        self.rows: list[Recorded] = []
        self.time = 1_000.0
        self.tell(*map(f.TaskAccepted, specs))

    def tell(self, *facts: f.Fact, after: float = 1.0) -> set[TaskId]:
        """Record facts; which tasks they changed."""
        changed: set[TaskId] = set()
        for fact in facts:
            self.time += after
            self.rows.append(seal(self.state.hash, self.state.seq + 1, self.time, "test", fact))
            changed |= apply(self.state, self.rows[-1])
        return changed

    def task(self, name: str) -> TaskState:
        return self.state.tasks[TaskId(name)]

    def run(self, max_parallel: int = 3, selection: tuple[TaskId, ...] | None = None) -> None:
        self.tell(f.RunStarted("run", "holder", 1, max_parallel, selection))

    def start(self, name: str) -> set[TaskId]:
        return self.tell(started(self.task(name)))

    def carry_on(self, name: str) -> set[TaskId]:
        """Let the phase that is running pass."""
        return self.tell(passed(self.task(name)))

    def work(self, name: str, phases: int = 3) -> None:
        """Take a task through this many phases."""
        for _ in range(phases):
            self.start(name)
            self.carry_on(name)


def started(task: TaskState, phase: str = "") -> f.PhaseStarted:
    attempt = task.attempt + (task.phase.kind is PhaseKind.AGENT)
    leased = tuple(Leased(name, f"{number}") for number, name in enumerate(task.spec.leases))
    return f.PhaseStarted(
        *(task.spec.id, attempt, phase or task.phase.name, task.epoch + 1, "holder", said("its turn")),
        leased=leased,
    )


def passed(task: TaskState) -> f.PhasePassed:
    where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
    commit = Commit(f"{task.spec.id}-{task.attempt}")
    if task.phase.kind is PhaseKind.AGENT:
        return f.WorkFinished(*where, commit=commit, seconds=5.0)
    if task.phase.kind is PhaseKind.CHECK:
        return f.CandidatePassed(*where, commit=commit, tree=Tree(f"tree-{commit}"))
    return f.Landed(*where, commit=task.change.candidate.commit if task.change.candidate else commit)


def failed(task: TaskState, fingerprint: str = "", retry_after_seconds: float = 0.0) -> f.PhaseFailed:
    where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
    return f.PhaseFailed(
        *where,
        error=ErrorClass.EXIT,
        why=said("exit 1"),
        fingerprint=fingerprint,
        retry_after_seconds=retry_after_seconds,
    )


Move = tuple[int, int, int]
"""Which kind of fact, about which task, in which variant."""
moves = st.lists(
    st.tuples(st.integers(0, 39), st.integers(0, len(NAMES) - 1), st.integers(0, 7)), min_size=1, max_size=60
)


def spec(name: TaskId, variant: int) -> Task:
    """A task of the graph; needs point to earlier letters only, so there is never a cycle."""
    at = NAMES.index(name)
    needs = {0: NAMES[max(0, at - 1) : at], 1: NAMES[:at:2], 2: ()}[variant % 3]
    return Task(
        name,
        f"do {name}",
        AGENT,
        needs=needs,
        uses=("port",) if variant & 1 else (),
        leases=(("gpu",), ("gpu", "gpu:b"), ())[(at + variant) % 3],
        exclusive=("CHANGELOG.md",) if variant & 2 else (),
        shared=("docs/**",) if at % 3 == 0 else (),
        touches=("src/**", f"tests/{name}") if variant & 4 else (f"src/{name}/**", "docs/index.md"),
        priority=variant % 4,
        story=("", "login", "search")[variant % 3],
        estimate_seconds=60.0 * (1 + (at + variant) % 5),
    )


def fact(journal: Journal, move: Move) -> f.Fact:
    """Any fact at all; mostly one that fits, often one that comes too late or makes no sense."""
    kind, at, variant = move
    name = NAMES[at]
    task = journal.state.tasks.get(name)
    if task is None:
        return f.TaskAccepted(spec(name, variant))
    unlikely = (*_about_the_run(name, variant), *_by_people(name, variant))
    if kind < len(unlikely):
        return unlikely[kind]
    return _about_a_phase(task, kind, variant)


def play(journal: Journal, steps: list[Move]) -> None:
    for move in steps:
        journal.tell(fact(journal, move), after=float(move[2]) * 40)


def _about_the_run(name: TaskId, variant: int) -> tuple[f.Fact, ...]:
    return (
        f.RunStarted("run", "h", variant, 1 + variant % 3, NAMES[: variant + 1] if variant else None),
        f.Paused(name if variant % 4 else None, "lunch"),
        f.Unpaused(name if variant % 2 else None),
        f.MainSeen("main", Commit(f"m{variant}"), Tree(f"t{variant}")),
        f.BaseChecked(Tree(f"t{variant}"), "make", variant % 2),
        f.StopRequested("run", variant % 2 == 0) if variant > 5 else _clutch(variant),
        f.RunEnded("run", None) if variant > 5 else f.WorkspaceArchived(name, 1, "refs/x"),
        f.PlanAccepted("task-graph.yaml", f"digest{variant}", variant, (Leasable("gpu", 1 + variant % 3),)),
    )


def _clutch(variant: int) -> f.Fact:
    return (
        f.ClutchDecided(2, "host", None)
        if variant < 3
        else f.ClutchDecided(variant - 3, "goodput", None, "other")
    )


def _by_people(name: TaskId, variant: int) -> tuple[f.Fact, ...]:
    accepted = f.TaskAccepted(spec(name, variant))
    return (
        accepted,
        accepted,
        f.TaskRemoved(name) if variant > 4 else accepted,
        f.TaskRetried(name, "again"),
        f.TaskReset(name) if variant > 4 else f.TaskRetried(name),
        f.TaskCancelled(name) if variant > 4 else f.TaskRetried(name),
        f.TaskFailed(name, variant, said("no use")) if variant > 3 else accepted,
    )


def _about_a_phase(task: TaskState, kind: int, variant: int) -> f.Fact:
    epoch = task.epoch - (variant == 7)
    where = (task.spec.id, task.attempt - (variant == 6), task.phase.name, epoch)
    odd: dict[int, f.Fact] = {
        15: failed(task, "same", 30.0 * (variant % 3)),
        16: f.PhaseLost(*where, why=said("gone")),
        17: f.PhaseDeferred(*where, why=said("disk full")),
        18: f.CandidateStale(*where, main=Commit("m9")) if task.phase.back_to else f.PhaseLost(*where),
        19: f.CandidateDropped(task.spec.id, Commit(f"{task.spec.id}-{task.attempt - variant % 2}")),
        20: f.Landed(*where, commit=Commit(f"{task.spec.id}-{variant}")),
        21: started(task, "land"),
        22: f.WorkFinished(*where[:2], "implement", epoch, commit=Commit("late")),
        23: f.CandidateBuilt(
            *where, Commit(f"m{variant}"), Commit(f"{task.spec.id}-{task.attempt}"), Tree("t")
        ),
    }
    if kind in odd:
        return odd[kind]
    return passed(task) if task.stage is Stage.RUNNING else started(task)
