"""One phase of one attempt, claimed: what the hands get to know."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlock.engine.ledger import Ledger
from interlock.events.baselines import last_on_main, on_main
from interlock.events.evidence import canary_for
from interlock.events.facts import Fact
from interlock.events.known_checks import has_passed, known_check, was_red
from interlock.events.state import TaskState
from interlock.model.budget import Amount
from interlock.model.canary import CanaryResult
from interlock.model.claim import Claim
from interlock.model.lesson import Lesson
from interlock.model.outcome import CheckKey, CheckResult, Tip
from interlock.model.pace import HangLimits, Pace, pace_of
from interlock.model.task import Agent, Commit, Reverted, Task, TaskId, Tree
from interlock.train.undo import landed_again


@dataclass(frozen=True, slots=True)
class KnownChecks:
    """Results and times of the checks of one task, as the log has them when it is asked."""

    ledger: Ledger
    task: Task
    environment: str
    """Digest of what decides the result of a check besides the tree."""
    hang_limits: HangLimits
    variables: Mapping[str, str] = field(default_factory=dict)
    """The values that the programs of the task have leased."""

    def on_main(self, tree: Tree, command: str, saw: Tree = Tree("")) -> CheckResult | None:
        """The known result of a check on a tree of main. `saw`: what it sees of that."""
        return on_main(self.ledger.state, self.task, command, tree, saw)

    def known(self, key: CheckKey) -> CheckResult | None:
        """The known result of a check that depends on this; None: it must run."""
        return known_check(self.ledger.state, key)

    def was_red(self, result: CheckResult) -> CheckResult | None:
        """The earlier red result of the same check on the same files."""
        return was_red(self.ledger.state, result.key) if result.key else None

    def has_passed(self, result: CheckResult) -> bool:
        """Tell if the same check has passed on the same files."""
        return has_passed(self.ledger.state, result)

    def on_main_last(self, command: str) -> CheckResult | None:
        """The last result of a check on main, on any tree."""
        return last_on_main(self.ledger.state, self.task, command)

    def landed_again(self, undoes: Sequence[Reverted]) -> list[Reverted]:
        """See `train.undo.landed_again`."""
        return landed_again(self.ledger.state, undoes)

    def canary(self) -> CanaryResult | None:
        """The known result of the project's checks on code that was broken on purpose."""
        return canary_for(self.ledger.state, self.task)

    def steered(self) -> Commit:
        """The last landing that removes tests or edits how checks run."""
        return self.ledger.state.checks.steered

    def trusted_tree(self) -> Tree:
        """See `State.checks.trusted_tree`."""
        return self.ledger.state.checks.trusted_tree

    def pace(self, command: str) -> Pace | None:
        """The usual time of a check, and the time after which it hangs."""
        return pace_of(self.ledger.state.checks.seconds.get(command, ()), self.hang_limits)


@dataclass(frozen=True, slots=True)
class Turn:
    """A claimed phase and the few calls its hand may make besides its own act."""

    task: TaskState
    """The task at the claim: a copy, because the fold goes on meanwhile."""
    claim: Claim
    attempt: int
    agent: Agent
    """The agent of the phase, if it has one."""
    neighbours: tuple[Task, ...]
    """Tasks of the other agents at the claim."""
    lessons: tuple[Lesson, ...]
    """Lessons of earlier attempts, for its agent."""
    branch: str
    generation: int
    """The controller's epoch, which a landing must name."""
    see_main: Callable[[], Awaitable[Tip]]
    """Look where main is, and write it down if it moved."""
    checks: KnownChecks
    run: str
    note: Callable[[Sequence[Fact]], Awaitable[None]]
    """Record facts that are true for any result of this turn."""
    mention: Callable[[Sequence[Fact]], Awaitable[None]]
    """Record facts if the log can be written right now."""
    tell: Callable[[str], None]
    """Say what takes long."""
    reserved: Amount | None = None
    """The share of the budgets that is reserved for its agent."""
    together: tuple[TaskState, ...] = ()
    """Copies of all tasks that this phase checks or lands as one, as they were at the claim."""

    @property
    def key(self) -> tuple[TaskId, int, str, int]:
        """The first fields of every fact of this turn: task, attempt, phase, epoch."""
        return self.task.spec.id, self.attempt, self.task.phase.name, self.claim.epoch


def frozen_copy(task: TaskState) -> TaskState:
    """A task as it is now, untouched by later facts: the fold replaces lists, and changes records."""
    return replace(
        task,
        queue=replace(task.queue),
        session=replace(task.session),
        talk=replace(task.talk),
        change=replace(task.change),
        trouble=replace(task.trouble),
        spent=replace(task.spent),
    )
