"""One phase of one attempt, claimed: what the hands get to know."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from interlock.events.facts import Fact
from interlock.events.state import TaskState
from interlock.model.canary import CanaryResult
from interlock.model.claim import Claim
from interlock.model.lesson import Lesson
from interlock.model.outcome import CheckResult, Tip
from interlock.model.pace import Pace
from interlock.model.task import Agent, Commit, Task, TaskId, Tree


@dataclass(frozen=True, slots=True)
class Turn:
    """A claimed phase and the few calls its hand may make besides its own act."""

    task: TaskState
    """As it was at the claim: a copy, because the fold goes on meanwhile."""
    claim: Claim
    attempt: int
    agent: Agent
    """Who has it, where the phase has an agent."""
    neighbours: tuple[Task, ...]
    """What other agents were working on at the claim."""
    lessons: tuple[Lesson, ...]
    """What its agent is told of earlier attempts."""
    branch: str
    generation: int
    """The controller's epoch, which a landing must name."""
    see_main: Callable[[], Awaitable[Tip]]
    """Look where main is, and write it down if it moved."""
    on_main: Callable[[Tree, str], CheckResult | None]
    """How a check is known to end on a tree of main."""
    on_main_last: Callable[[str], CheckResult | None]
    """How it ended when it last ran on main, whatever the tree."""
    check_environment: str
    """What decides the result of a check besides the tree."""
    canary: Callable[[], CanaryResult | None]
    """What the project's checks are known to say of code that was broken on purpose."""
    steered: Callable[[], Commit]
    """The last landing that edits how checks run."""
    pace: Callable[[str], Pace | None]
    """How long a check usually takes, and when it hangs."""
    run: str
    note: Callable[[Sequence[Fact]], Awaitable[None]]
    """Record facts that are true whatever becomes of this turn."""
    mention: Callable[[Sequence[Fact]], Awaitable[None]]
    """The same if the log can be written right now."""
    tell: Callable[[str], None]
    """Say what takes long."""
    ahead: TaskId = TaskId("")
    """Whose change it is checked on top of, where that is not on main yet."""
    onto: Commit = Commit("")
    """That change; '': it is checked on main."""
    onto_tree: Tree = Tree("")

    @property
    def key(self) -> tuple[TaskId, int, str, int]:
        """What every fact of this turn names: task, attempt, phase, epoch."""
        return self.task.spec.id, self.attempt, self.task.phase.name, self.claim.epoch


def frozen_copy(task: TaskState) -> TaskState:
    """A task as it is now, untouched by later facts."""
    return replace(task, failures=list(task.failures), said=list(task.said))
