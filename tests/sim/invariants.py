"""What must hold after every fact and every effect, whatever went wrong. The numbers are the safety plan's.

I1 acknowledged facts stay.
I2 at most one result counts per task and epoch.
I3 the epochs of a task rise.
I4 landed by us, on main, and DONE in the state are the same.
I5 nothing is stuck: neither for ever, nor longer than its lease and some grace.
I6 a task starts after its needs have landed.
I7 a hard lease has one holder, and nothing lands in what another task at work holds alone. (In the plan this
   is the budget; there are no budgets yet.) A value has one holder, and no program starts without its own.
I8 nothing an agent made is lost, and nothing falls off main.
I9 the state is what the log adds up to: at once, fact by fact, from a snapshot, and in the engine.
I10 what agents have used is counted once for each attempt, however it ended, and the sum is told.
Besides: an agent starts when its checks have been tried on main, every commit on main was tested as it is and
is green, agents of one task never overlap, retries end, a task that asks a person waits for the answer, and
nobody writes under a claim that has fallen. What was undone is not done, and what needs it waits (I4, I6). On
a main that another hand has moved nothing lands before its checks ran there, and while it is broken only a
fix or what undoes commits.

A violation is noted, not raised: the engine is built to survive what its calls raise.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

from interlock.events import facts as f
from interlock.events.baselines import unseen
from interlock.events.fold import apply
from interlock.events.lifecycle import Stage
from interlock.events.main import freezes
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.model.globs import matches, overlap
from interlock.model.leases import Leased, variable
from interlock.model.outcome import Landing
from interlock.model.task import AttemptKey, Commit, PhaseKind, Task, TaskId, Tree
from interlock.verify.protocol import CheckOrder
from tests.sim.fake_git import FakeCommit, FakeRepository, Files, is_input, tasks_of
from tests.sim.fake_hands import Machine, Seat
from tests.sim.graph import PROVIDER, Graph, passes, runs, tests_of
from tests.sim.loop import Simulation

REPEATED = "an echo"
"""The actor who writes old facts again: what it writes proves nothing."""
RESULTS = (
    f.PhasePassed,
    f.QuestionAsked,
    f.NoChangeNeeded,
    f.PhaseFailed,
    f.PhaseLost,
    f.CandidateStale,
    f.PhaseDeferred,
)
SECOND_CHANCES = (f.TaskRetried, f.TaskReset, f.TaskAccepted, f.TaskUndone, f.TaskReopened)


class Invariants:
    """Watches facts and effects as they happen, and keeps its own account of them."""

    def __init__(
        self, simulation: Simulation, graph: Graph, repository: FakeRepository, machine: Machine
    ) -> None:
        self.simulation, self.graph, self.repository, self.machine = simulation, graph, repository, machine
        self.violations: list[str] = []
        self.broken = asyncio.Event()
        self.rows: list[Recorded] = []
        """Every fact a writer was told it had written."""
        self.state = State()
        self._leased: dict[TaskId, tuple[Leased, ...]] = {}
        """The values that each task started with last."""
        self._results: set[tuple[TaskId, int, TaskId]] = set()
        self._together: dict[TaskId, tuple[TaskId, ...]] = {}
        """The tasks that the last claim of each covers."""
        self._exited: set[tuple[TaskId, int]] = set()
        self._epochs: dict[TaskId, int] = defaultdict(int)
        self._setbacks: dict[TaskId, list[str]] = defaultdict(list)
        self.on_fact: Callable[[f.Fact], None] = lambda _fact: None
        self.on_main: Callable[[TaskId], None] = lambda _task: None
        self._in_force = 0
        """The newest generation that must have raised its fence: it has written more than its opening."""
        self.landed: dict[TaskId, Commit] = {}
        """The commit of each task that went to main, and was not undone."""
        self.merges = 0
        """Landings of several tasks as one commit."""
        self._undone_by: dict[TaskId, TaskId] = {}
        self._tried: set[Tree] = set()
        """The trees that are known to be as good as main was before: judged, or landed by us."""
        repository.on_land = self.main_moved
        machine.on_start = self.agent_started
        machine.on_check = self.check_started
        machine.on_read = self.check_reads

    def violate(self, rule: str, text: str) -> None:
        self.simulation.note(f"VIOLATION {rule}: {text}")
        self.violations.append(f"{rule}: {text}")
        self.broken.set()

    # After every fact

    def recorded(self, row: Recorded) -> None:
        """A row was written to the log."""
        self.simulation.note(f"fact {row.seq} {row.actor} {row.kind} {row.body[:160]}")
        if row.seq != len(self.rows) + 1:
            self.violate("I1", f"fact {row.seq} comes after fact {len(self.rows)}")
        self.rows.append(row)
        fact = row.fact
        self._note_controller(row, fact)
        task = self._about(fact)
        before = _shape(task)
        apply(self.state, row)
        if task is not None and row.actor != REPEATED:
            self._epochs_rise(fact)
        if task is not None and _shape(task) != before:
            self._accepted(task, fact)
        if isinstance(fact, f.MainJudged):
            self._tried.add(fact.tree)
        self.on_fact(fact)

    def _about(self, fact: f.Fact) -> TaskState | None:
        name = fact.task.id if isinstance(fact, f.TaskAccepted) else getattr(fact, "task", None)
        return self.state.tasks.get(TaskId(name)) if isinstance(name, str) else None

    def _note_controller(self, row: Recorded, fact: f.Fact) -> None:
        run = self.state.run
        if (
            run is not None
            and row.actor == run.holder
            and not isinstance(fact, f.ClutchDecided | f.RunStarted)
        ):
            self._in_force = run.generation

    def _epochs_rise(self, fact: f.Fact) -> None:
        if isinstance(fact, f.PhaseStarted):
            if fact.epoch <= self._epochs[fact.task]:
                self.violate(
                    "I3", f"{fact.task} started under epoch {fact.epoch} after {self._epochs[fact.task]}"
                )
            self._epochs[fact.task] = fact.epoch

    def _accepted(self, task: TaskState, fact: f.Fact) -> None:
        """The fact counted."""
        if isinstance(fact, f.Landed):
            self._landing_is_true(task, fact)
        elif isinstance(fact, RESULTS):
            self._one_result(task, fact)
        if isinstance(fact, f.PhaseFailed):
            self._setbacks[fact.task].append(fact.fingerprint)
        if isinstance(fact, f.ReviewRejected):  # it comes between, so the next one is no repetition
            self._setbacks[fact.task][-1:] = [""] * bool(self._setbacks[fact.task])
        if isinstance(fact, SECOND_CHANCES):
            self._setbacks[task.spec.id].clear()
        self._note_undone(task, fact)
        if isinstance(fact, f.PhaseStarted):
            self._start_is_allowed(task, fact)
        if isinstance(fact, f.AgentExited):
            self._agent_is_gone(fact)
        if isinstance(fact, f.CandidatePassed):
            self._results_fit(task, fact)

    def _note_undone(self, task: TaskState, fact: f.Fact) -> None:
        """What leaves main without a landing of its own, and comes back once its undo is undone."""
        if isinstance(fact, f.TaskUndone | f.TaskReopened):
            self.landed.pop(fact.task, None)
            self._undone_by[fact.task] = fact.by
        if isinstance(fact, f.NoChangeNeeded) and fact.on_main and task.change.undo is None:
            self.landed[fact.task] = fact.base
        by = self._undone_by.get(fact.task) if isinstance(fact, f.LandingSeen) else None
        if isinstance(fact, f.LandingSeen) and by and by not in self.landed:
            self.landed.setdefault(fact.task, fact.commit)

    def _results_fit(self, task: TaskState, fact: f.CandidatePassed) -> None:
        """D14: a result that was not found out now is one of the same files in the same environment."""
        here = self.state.run.environment if self.state.run else ""
        for check in fact.checks:
            seen = " ".join([here, *sorted(map(variable, task.spec.leases))])
            tree = self.repository.only(fact.tree, task.spec.inputs_of(check.command))
            if check.reused and (check.saw, check.environment) != (tree, seen):
                self.violate(
                    "reuse", f"{fact.task} passed {check.command} with a result of {check.environment}"
                )

    def _one_result(self, task: TaskState, fact: f.Fact) -> None:
        assert isinstance(fact, f.PhaseFact)
        lead = self._lead_of(fact)
        if (lead, fact.epoch, fact.task) in self._results:
            self.violate("I2", f"a second result of {fact.task} counted under epoch {fact.epoch}: {fact}")
        if fact.epoch != self._epochs[fact.task]:
            self.violate(
                "I2", f"a result counted under a bygone epoch (now {self._epochs[fact.task]}): {fact}"
            )
        self._results.add((lead, fact.epoch, fact.task))

    def _lead_of(self, fact: f.PhaseFact) -> TaskId:
        """The task whose claim the result is under: that of the last, where several are checked as one."""
        if (
            not isinstance(fact, f.CandidateJoined)
            or fact.joined is None
            or fact.task == fact.joined.tasks[-1]
        ):
            return fact.task
        lead = fact.joined.tasks[-1]
        if self._together.get(lead) != fact.joined.tasks:
            self.violate("I2", f"{fact.task} passed with {lead}, whose claim does not cover it: {fact}")
        return lead

    def _landing_is_true(self, task: TaskState, fact: f.Landed) -> None:
        if fact.commit not in self.repository.on_branch:
            self.violate(
                "I4", f"{fact.task} is said to have landed as {fact.commit[:12]}, which is not on main"
            )
        if task.stage is not Stage.DONE:
            self.violate("I4", f"{fact.task} landed and is {task.stage}")

    def _start_is_allowed(self, task: TaskState, fact: f.PhaseStarted) -> None:
        self._together[fact.task] = fact.together
        missing = [need for need in task.spec.needs if need not in self.landed]
        if missing:
            self.violate("I6", f"{fact.task} started before {', '.join(missing)} landed")
        setbacks = self._setbacks[fact.task]
        if len(setbacks) > task.spec.retries:
            self.violate("retries", f"{fact.task} started again after {len(setbacks)} failures")
        if len(setbacks) > 1 and setbacks[-1] and setbacks[-1] == setbacks[-2]:
            self.violate("retries", f"{fact.task} started again after the same failure twice: {setbacks[-1]}")
        if task.talk.questions and task.talk.questions[-1].answer is None:
            self.violate("answer", f"{fact.task} started although no person has answered its question")
        if task.phase.kind is not PhaseKind.LAND:
            self._leased[fact.task] = fact.leased
            self._values_are_its_own(fact)
        if task.phase.kind is PhaseKind.AGENT:
            if unknown := unseen(self.state, task.spec):
                self.violate("preflight", f"{fact.task} started, and {unknown[0]} was not tried on main")
            self._clutch_allows(task)
            others = [
                self.state.tasks[name] for name in sorted(self.state.index.running) if name != fact.task
            ]
            self._hard_leases(
                task.spec, [self._held_by(t) for t in others if t.phase.kind is PhaseKind.AGENT]
            )

    def _values_are_its_own(self, fact: f.PhaseStarted) -> None:
        for name in sorted(self.state.index.running - {fact.task}):
            is_landing = self.state.tasks[name].phase.kind is PhaseKind.LAND
            held = {each.key for each in self._leased.get(name, ())} if not is_landing else set()
            if shared := held & {each.key for each in fact.leased}:
                self.violate("I7", f"{fact.task} started with {shared}, which {name} holds")

    def _clutch_allows(self, task: TaskState) -> None:
        """K3: as many agents as the clutch says, in all, on the kind of work and for the provider."""
        others = [t for t in self.state.tasks.values() if t is not task and _is_at_work(t)]
        alike = [other for other in others if other.category == task.category]
        limit, run = self.state.limits.categories.get(task.category), self.state.run
        if run is None or len(others) >= run.limit:
            self.violate(
                "clutch", f"{task.spec.id} started beside {len(others)}; {run and run.limit} may work"
            )
        if limit and len(alike) >= limit.limit:
            self.violate("clutch", f"{task.spec.id} started beside {len(alike)} of its kind; {limit}")
        provider = self.state.limits.providers.get(PROVIDER)
        is_open = provider and provider.until and provider.until <= self.state.time
        if provider and not is_open and len(others) >= provider.limit:
            self.violate("clutch", f"{task.spec.id} started beside {len(others)} of its provider; {provider}")

    def _held_by(self, task: TaskState) -> Task:
        """Once its agent is gone a task still holds its paths, but nothing outside the tree."""
        is_alone = (task.spec.id, task.epoch) in self._exited
        return replace(task.spec, uses=()) if is_alone else task.spec

    def _agent_is_gone(self, fact: f.AgentExited) -> None:
        seat = self.machine.find(AttemptKey(fact.task, fact.attempt))
        if seat is None or seat.alive:
            self.violate("I7", f"the agent of {fact.task}/{fact.attempt} is said to have ended, and has not")
        self._exited.add((fact.task, fact.epoch))

    def _hard_leases(self, task: Task, others: list[Task]) -> None:
        for other in others:
            if reason := collision(task, other):
                self.violate("I7", f"{task.id} started while {other.id} holds {reason}")

    # After every effect

    def agent_started(self, seat: Seat) -> None:
        """An agent process begins."""
        task, attempt = seat.order.task, seat.order.attempt
        alive = self.machine.alive()
        if any(other.order.task == task for other in alive):
            self.violate("overlap", f"an agent for {task}/{attempt} started while another works on {task}")
        lost = self.machine.find(seat.order.key)
        if lost is not None and lost.made is not None and not lost.ref:
            self.violate("I8", f"the workspace of {task}/{attempt} was opened again before it was archived")
        self._has_all(task, seat.order.variables)
        for other in alive:
            if shared := set(seat.order.variables.values()) & set(other.order.variables.values()):
                self.violate("I7", f"an agent for {task} started with {shared}, as {other.order.task} has")
        others = [self.graph.task(other.order.task) for other in alive if other.order.task != task]
        self._hard_leases(self.graph.task(task), others)

    def check_started(self, order: CheckOrder) -> None:
        """Checks begin."""
        if any(task.id == order.task for task in self.graph.tasks):
            self._has_all(order.task, order.env)

    def check_reads(self, command: str, files: Files) -> None:
        """A command finds these files."""
        inputs = dict(self.graph.inputs).get(command, ())
        if outside := [path for path in sorted(files) if not is_input(path, inputs)]:
            self.violate("inputs", f"`{command}` can read {outside[0]}, and declares {inputs}")

    def _has_all(self, task: TaskId, variables: Mapping[str, str]) -> None:
        wanted = sorted(map(variable, self.graph.task(task).leases))
        if sorted(variables) != wanted or len(set(variables.values())) != len(wanted):
            self.violate("I7", f"a program of {task} has {dict(variables)} and uses {wanted}")

    def main_moved(self, landing: Landing) -> None:
        """Our own landing went through."""
        commit = self.repository.commits[landing.new]
        names = list(map(TaskId, tasks_of(commit.message)))
        self.simulation.note(f"main moves to {landing.new[:8]} for {names} under fence {landing.fence}")
        if not names:
            self.violate("I4", f"main moved to {landing.new[:12]}, which names no task")
        self.merges += len(names) > 1
        self._main_only_grows()
        for name in names:
            if commit.parent != landing.old:
                self.violate("green", f"{name} took along to main what was landed by nobody")
            if name in self.landed:
                self.violate("I4", f"{name} landed twice: {self.landed[name][:12]} and {landing.new[:12]}")
            self.landed[name] = landing.new
            if landing.fence < self._in_force:
                here = self._in_force
                self.violate("fence", f"{name} landed under fence {landing.fence} in generation {here}")
            self._is_green(name, commit.id)
            self._main_allows(name, landing)
        self._is_nobody_elses(names, commit.id)
        self._has_no_other(names, commit)
        for name in names:
            self.on_main(name)

    def _has_no_other(self, names: list[TaskId], commit: FakeCommit) -> None:
        """What lands as one has the change of each task, as its agent made it, and no other."""
        if len(names) == 1:
            return
        chain, at = [], commit.merged[0]
        while at != commit.parent:
            chain.append(self.repository.commits[at])
            at = self.repository.commits[at].parent or Commit("")
        if [tasks_of(each.message) for each in reversed(chain)] != [[name] for name in names]:
            self.violate("joint", f"{commit.id[:12]} has not one commit for each of {names}")
        files = self.repository.files(commit.id)
        if lost := [name for name in names if f"done/{name}" not in files]:
            self.violate("joint", f"{commit.id[:12]} is said to have {lost[0]}, and has not its change")
        if chain[0].tree != commit.tree:
            self.violate("joint", f"{commit.id[:12]} is not what its tasks made")

    def _is_nobody_elses(self, names: list[TaskId], id: Commit) -> None:
        """K4: no path of it is held alone by another task that an agent works on."""
        parent = self.repository.commits[id].parent
        assert parent is not None
        before, after = self.repository.files(parent), self.repository.files(id)
        edited = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
        for other in sorted(self.state.index.running - {*names}):
            task = self.state.tasks[other]
            alone = [path for path in edited for glob in task.spec.exclusive if matches(glob, path)]
            if alone and task.phase.kind is PhaseKind.AGENT:
                self.violate("I7", f"{names} landed a change of {alone[0]}, which {other} holds alone")

    def _main_only_grows(self) -> None:
        if self.repository.fallen:
            self.violate("I8", f"{self.repository.fallen[0][:12]} fell off main")

    def _is_green(self, name: TaskId, id: Commit) -> None:
        """It was tested as it is and passed; what is red on its parent too is not its fault."""
        commit = self.repository.commits[id]
        assert commit.parent is not None
        task = self._spec(name)
        for command in dict.fromkeys((*task.done_when, *task.verify)):
            seen = self._seen_by(command, id)
            tested = self.machine.tested.get(seen, {})
            if command not in tested:
                self.violate("green", f"{name} landed a tree on which `{command}` was never run")
            elif tested[command] and passes(command, self.repository.trees[seen]):
                continue
            elif command not in task.verify or not self._is_excused(command, id, commit.parent):
                self.violate("green", f"{name} landed and `{command}` is red")

    def _main_allows(self, name: TaskId, landing: Landing) -> None:
        """D8: nothing lands on a main that nobody tried, and on a broken one only a fix or a revert."""
        main, below = self.state.main, self.repository.commits[landing.old].tree
        here = self.repository.commits[landing.new].tree
        if freezes(self.state) and main.commit == landing.old:
            if main.unjudged and main.green and below not in self._tried:
                self.violate("frozen", f"{name} landed on {landing.old[:12]}, on which no check has run")
            red = main.broken.commands if main.broken else ()
            trees = {command: self._seen_by(command, landing.new) for command in red}
            mends = all(passes(command, self.repository.trees[tree]) for command, tree in trees.items())
            if not self._spec(name).reverts and not mends:
                self.violate("frozen", f"{name} landed on a main where {red} is red, and does not mend it")
        self._tried.add(here)

    def _seen_by(self, command: str, id: Commit) -> Tree:
        """The part of a commit that a check can read."""
        return self.repository.only(
            self.repository.commits[id].tree, dict(self.graph.inputs).get(command, ())
        )

    def _spec(self, name: TaskId) -> Task:
        """The task as the log has it: what undoes others is not in the graph."""
        return self.state.tasks[name].spec

    def _is_excused(self, command: str, id: Commit, parent: Commit) -> bool:
        """Could it run, and does every test fail on the parent that fails here."""
        here, before = (self.repository.trees[self._seen_by(command, each)] for each in (id, parent))
        if not runs(command, here) or not runs(command, before):
            return False
        was = tests_of(command, before)
        return all(good or was.get(test) is False for test, good in tests_of(command, here).items())

    # In between

    def work_is_kept(self) -> None:
        """I8: what an imported workspace held can be reached."""
        reachable = self.repository.reachable()
        for seat in self.machine.seats:
            if seat.ref and seat.made not in reachable:
                self.violate("I8", f"what {seat.order.task}/{seat.order.attempt} made is unreachable")


def collision(one: Task, other: Task) -> str:
    """What two tasks cannot both have, if anything."""
    if both := sorted({*one.uses} & {*other.uses}):
        return both[0]
    for mine, theirs in ((one, other), (other, one)):
        wanted = (*theirs.exclusive, *theirs.shared, *theirs.touches)
        if claimed := [path for path in mine.exclusive if any(overlap(path, want) for want in wanted)]:
            return claimed[0]
    return ""


def _shape(task: TaskState | None) -> object:
    """Everything about a task that a result could change."""
    if task is None:
        return None
    place = (task.stage, task.phase_index, task.epoch, task.attempt, task.session.exited)
    made = (task.change.work, task.change.candidate, task.change.landed)
    return (
        place,
        made,
        task.trouble.losses,
        task.trouble.deferrals,
        len(task.trouble.failures),
        task.queue.not_before,
    )


def _is_at_work(task: TaskState) -> bool:
    """Also an agent that the task was taken from and that nobody has ended yet; not one that is gone."""
    return task.has_agent or (task.session.leftover > 0 and not task.session.exited)
