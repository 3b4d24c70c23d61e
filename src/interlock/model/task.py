"""A task and the phases it runs through."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, NewType

TaskId = NewType("TaskId", str)
Commit = NewType("Commit", str)
Tree = NewType("Tree", str)

TASK_ID = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""Ids become ref names, directory names and argv words, so they are kept this plain."""


class Change(NamedTuple):
    """A change that an agent made: its commit, and the commit it was made from."""

    commit: Commit
    base: Commit


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """Names one attempt at a task, and nothing else ever."""

    task: TaskId
    attempt: int

    def __str__(self) -> str:
        return f"{self.task}, attempt {self.attempt}"


CRITICAL = 0
"""Tasks of this priority jump the queue."""
NORMAL = 2

WORKER, CRITIC = "worker", "critic"
ROLES = (WORKER, CRITIC, "orchestrator")
COMPLEXITIES = ("low", "medium", "high")
"""Levels of difficulty: of a task, and the most that an agent is given."""
REVIEWS = ("none", "required", "auto")
"""Words for the review of a change before it lands."""
ANY = "any"
"""Stands for every agent of the graph."""


class PhaseKind(StrEnum):
    """The kind of worker that carries a phase out."""

    AGENT = "agent"
    CHECK = "check"
    LAND = "land"


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of a task's pipeline."""

    name: str
    kind: PhaseKind
    back_to: str = ""
    """The phase a failure goes back to, with feedback; empty: this one."""


PIPELINE = (
    Phase("implement", PhaseKind.AGENT),
    Phase("verify", PhaseKind.CHECK, back_to="implement"),
    Phase("land", PhaseKind.LAND, back_to="verify"),
)


UNDO_PIPELINE = (Phase("verify", PhaseKind.CHECK), Phase("land", PhaseKind.LAND, back_to="verify"))
"""The phases of a task that undoes what is on main: git makes its change, and no agent works on it."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The share of one task in a commit of main that has the changes of several."""

    own: Commit
    """The commit with its change alone: those of all are a chain below the merge that landed."""
    below: Commit
    """The commit that this one is on top of."""
    tasks: tuple[TaskId, ...]
    """All of them, in the order of the chain."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """A commit of main that a change undoes."""

    commit: Commit
    task: TaskId = TaskId("")
    """The task that landed it; empty: it came to main in another way."""
    own: Commit = Commit("")
    """The commit below it with the change of this task alone, where it landed several."""

    @property
    def change(self) -> Commit:
        """The commit whose change is undone."""
        return self.own or self.commit


@dataclass(frozen=True, slots=True)
class Agent:
    """A configured program that works on tasks."""

    name: str
    use: str
    run: tuple[str, ...] = ()
    env: dict[str, str] | None = None
    args: tuple[str, ...] = ()
    """More words for a program that Interlock knows how to start."""
    model: str = ""
    url: str = ""
    """The URL of its model server; empty: the provider that the program is made for."""
    key_env: str = ""
    """The variable of the user's environment that holds the credential. Only its name is ever written."""
    wire: str = ""
    """The language it speaks with its model (`model.kinds.Wire`), where its kind leaves that open."""
    permissions: str = "allow"
    """The answer to a program that asks before it acts: `allow`, `ask` (a person) or `deny`."""
    login: bool = False
    """The program uses the account it is logged in with. Its credential is then inside the sandbox."""
    roles: tuple[str, ...] = (WORKER,)
    capabilities: tuple[str, ...] = ()
    """Its skills, in words that tasks require."""
    labels: tuple[str, ...] = ()
    """Names that stand for it together with others."""
    complexity: str = COMPLEXITIES[-1]
    """The hardest task it should be given."""


class OriginKind(StrEnum):
    """The kinds of places that tasks come from."""

    GRAPH = "graph"
    """A task graph; `Origin.name` is its file."""
    PERSON = "person"
    """`interlock add`; the name is the person's."""
    PARENT = "parent"
    """Another task, whose id is the name."""
    EVENT = "event"
    API = "api"
    UNDO = "undo"
    """`interlock undo`, or the revert of a commit that made main red; the name is who asked for it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The place that a task comes from: nothing else may remove it."""

    kind: OriginKind = OriginKind.GRAPH
    name: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work for one agent, ending in one merge. All defaults are already filled in."""

    id: TaskId
    goal: str
    agent: Agent
    needs: tuple[TaskId, ...] = ()
    """Tasks that must have landed before this one may start."""
    touches: tuple[str, ...] = ()
    """Globs it will probably edit: a forecast, not a cage."""
    exclusive: tuple[str, ...] = ()
    """Globs that no other task may work on while this one runs: a hard lease."""
    shared: tuple[str, ...] = ()
    """Globs it reads and that must not change meanwhile: a hard lease against `exclusive` only."""
    uses: tuple[str, ...] = ()
    """Things outside the tree (schemas, accounts), one holder at a time."""
    leases: tuple[str, ...] = ()
    """Those of them that the graph declares below `leases`: each attempt gets a value of its own."""
    done_when: tuple[str, ...] = ()
    """Commands that must pass on the merged tree for this task to be done."""
    verify: tuple[str, ...] = ()
    """The project's checks, judged as a delta against the base."""
    red_main: str = "baseline"
    """The rule for it while they fail on main itself (`model.suite.RedMain`)."""
    category: str = ""
    story: str = ""
    subsystem: str = ""
    labels: tuple[str, ...] = ()
    priority: int = NORMAL
    """0 is critical and jumps the queue, 4 is last."""
    estimate_seconds: float = 600.0
    has_estimate: bool = False
    """The graph gives `estimate_seconds`. Else it is a round number to plan with, and no evidence."""
    timeout_seconds: float = 1800.0
    idle_seconds: float = 600.0
    """The time that the agent may be silent before it is stopped."""
    check_seconds: float = 900.0
    lease_seconds: float = 0.0
    """The time that it waits for another task's lease before it is given up; 0: no limit."""
    retries: int = 3
    pipeline: tuple[Phase, ...] = PIPELINE
    agents: tuple[Agent, ...] = ()
    """Its candidates, in order of preference, `agent` first; empty: only `agent`."""
    role: str = WORKER
    requires: tuple[str, ...] = ()
    """Capabilities that its agent has; known here to be said, as `agents` is already chosen by them."""
    complexity: str = ""
    """Its difficulty; empty: not given."""
    review: str = ""
    """Review of its change before it lands: `none`, `required` or `auto`; empty: as the settings say."""
    route: str = ""
    """The route of the graph that names its agents; empty: the task itself does, or `defaults`."""
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Commands of its checks, each with globs of the files that it sees. A command that is not here sees
    all files."""

    @property
    def candidates(self) -> tuple[Agent, ...]:
        return self.agents or (self.agent,)

    @property
    def reverts(self) -> bool:
        """True if it undoes what is on main: no agent works on it."""
        return all(phase.kind is not PhaseKind.AGENT for phase in self.pipeline)

    def inputs_of(self, command: str) -> tuple[str, ...]:
        """Return the globs of the files that a check sees; none: it sees all files."""
        return next((globs for name, globs in self.inputs if name == command), ())

    def agent_named(self, name: str) -> Agent:
        """The candidate of this name; the first one where there is none, as before any attempt."""
        return next((agent for agent in self.candidates if agent.name == name), self.agent)

    def phase_index(self, name: str) -> int:
        """Return the position of `name` in the pipeline; the beginning, for a phase that is not in it."""
        return next((i for i, phase in enumerate(self.pipeline) if phase.name == name), 0)


def all_inputs(tasks: Iterable[Task]) -> dict[str, tuple[str, ...]]:
    """Return the globs of the files that checks see, by command, for those that do not see all files."""
    return {command: globs for task in tasks for command, globs in task.inputs}
