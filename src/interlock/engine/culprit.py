"""Finds the commit that made main red, by a search over its first-parent line, in trees of their own.

Rules:
1. A red result counts only if it is red twice in a row: a flake blames no commit.
2. The search assumes that the check passes up to one commit and fails from there on. Its first commit is
   blamed only if the check still passes on the commit before: else something outside the repository changed.
3. Only the newest commits are searched. Their number bounds the checks: two for each halving.
"""

from collections.abc import Sequence

from interlock.engine.env import Env
from interlock.engine.undo import UndoPlan, facts_of, plan_undo
from interlock.events import facts as f
from interlock.events.state import State
from interlock.git.reverting import LineCommit
from interlock.model.errors import UsageError
from interlock.model.outcome import CheckResult
from interlock.model.step import FindCulprit
from interlock.model.task import Commit, Reverted, TaskId, all_inputs
from interlock.train.undo import task_of, undoing
from interlock.verify.protocol import CheckOrder

MOST_COMMITS = 1_000
RUNS = 2


async def culprit_facts(env: Env, state: State, step: FindCulprit, who: str) -> list[f.Fact]:
    """Return the fact that names the commit, and those that put its revert into the train."""
    nothing = f.CulpritFound(step.main, step.command)
    line = await _line(env, step)
    found = await _culprit(env, state, step, line)
    if found is None:
        return [nothing]
    if found is line[0] and await _fails(env, state, step, await _before(env, found)):
        return [f.CulpritFound(step.main, step.command, fails_before=True)]
    task = task_of(state, {found.commit}).get(found.commit, TaskId(""))
    plan = await _revert(env, state, step.main, Reverted(found.commit, task))
    conflicts = plan.revert.conflicts if plan else ()
    facts = _revert_facts(state, step, plan, who, is_ours=bool(task))
    by = next((fact.task for fact in facts if isinstance(fact, f.RevertPrepared)), TaskId(""))
    about = (found.commit, found.author, found.subject, task, conflicts, by)
    return [f.CulpritFound(step.main, step.command, *about), *facts]


async def _line(env: Env, step: FindCulprit) -> list[LineCommit]:
    """List the commits that may be to blame, oldest first."""
    if env.reverts is None or not step.good or await env.reverts.at(step.good) is None:
        return []
    return await env.reverts.line(step.good, step.main, most=MOST_COMMITS)


async def _culprit(
    env: Env, state: State, step: FindCulprit, line: Sequence[LineCommit]
) -> LineCommit | None:
    """Return the first commit of the line on which the check fails."""
    known = state.main.broken.culprit if state.main.broken else None
    hint = known.commit if known and known.command == step.command else ""
    if same := next((each for each in line if each.commit == hint), None):
        return same  # what is below it is as it was
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high) // 2
        if await _fails(env, state, step, line[middle]):
            high = middle
        else:
            low = middle + 1
    return line[low] if line else None


async def _before(env: Env, first: LineCommit) -> LineCommit | None:
    return await env.reverts.at(first.parent) if env.reverts and first.parent else None


async def _fails(env: Env, state: State, step: FindCulprit, commit: LineCommit | None) -> bool:
    """Run the check on one commit; a red result counts if it comes twice (rule 1)."""
    if commit is None:
        return False
    inputs = all_inputs(task.spec for task in state.tasks.values())
    for run in range(RUNS):
        name = f"culprit/{commit.commit[:12]}-{run + 1}"
        seconds = step.timeout_seconds
        order = CheckOrder(name, commit.tree, (step.command,), seconds, {}, leased=True, inputs=inputs)
        results: Sequence[CheckResult] = await env.checker.check(order)
        if all(result.passed for result in results):
            return False
    return True


async def _revert(env: Env, state: State, main: Commit, culprit: Reverted) -> UndoPlan | None:
    try:
        return await plan_undo(env.reverts, state, main, [culprit]) if env.reverts else None
    except UsageError:  # the first commit of main, for example
        return None


def _revert_facts(
    state: State, step: FindCulprit, plan: UndoPlan | None, who: str, *, is_ours: bool
) -> list[f.Fact]:
    """Return the facts of the revert; none if a person has to decide."""
    may_revert = is_ours or (state.run is not None and state.run.on_red_main == "revert")
    if plan is None or not plan.revert.commit or not may_revert or undoing(state, plan.undoes):
        return []
    red = state.checks.baselines.get(step.command)
    result = red.result if red else CheckResult(step.command, 1)
    return facts_of(state, plan, step.main, who, result)
