"""Evidence: results of canaries, and the grade of a change that passed its checks."""

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Checks
from interlock.events.task_parts import Candidate
from interlock.model.canary import CanaryResult, canary_key
from interlock.model.evidence import Evidence, weigh
from interlock.model.task import Task, TaskId


def canary_tried(state: State, fact: f.CanaryTried, _: Recorded) -> set[TaskId]:
    """Remember the result of the checks on code that was broken on purpose; the last one counts."""
    result = canary_result(fact, state.run.run if state.run else "")
    state.checks.canaries[canary_key(fact.commands, fact.environment)] = result
    if fact.noticed:
        state.checks.noticed_on = fact.tree
    return set()


def forget_canaries(checks: Checks, landed: Candidate) -> None:
    """Checks that a change has thinned out or runs in another way must notice a break again."""
    if landed.evidence.weakens_checks:
        checks.steered = landed.commit
        checks.canaries.clear()


def canary_result(fact: f.CanaryTried, run: str = "") -> CanaryResult:
    return CanaryResult(
        fact.noticed, fact.places, fact.seconds, run, fact.given_up, fact.by_build, fact.noticed_by
    )


def canary_for(state: State, task: Task) -> CanaryResult | None:
    """Return the known result of the task's project checks on a canary in this run's environment."""
    return state.checks.canaries.get(canary_key(task.verify, state.run.environment if state.run else ""))


def evidence_of(state: State, task: TaskState, fact: f.CandidatePassed) -> Evidence:
    """Return the evidence of a change that passed: it is fixed now, and later findings do not change it."""
    touched = task.change.work.touched if task.change.work else ()
    return weigh(fact.checks, canary_for(state, task.spec), touched, fact.lost_tests)
