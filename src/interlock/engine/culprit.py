"""Finds the commit that made main red, by a search over its first-parent line, in trees of their own.

Rules:
1. A red result counts only if it is red each time (`baseline.RUNS`): a flake blames no commit. Before a
   commit is blamed, main itself and then that commit must fail once more. If main passes, it is not red.
2. The search assumes that the check passes up to one commit and fails from there on. Its first commit is
   blamed only if the check still passes on the commit before, and has never passed on its own files: else
   something outside the repository changed.
3. Only the newest commits are searched. Their number bounds the checks: two for each halving.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from interlock.engine.baseline import RUNS, RUNS_AFTER_A_PASS, Trial, base_fact, flake
from interlock.engine.env import Env
from interlock.engine.known import never, run_known
from interlock.engine.undo import UndoPlan, changes_on, facts_of, plan_undo
from interlock.events import facts as f
from interlock.events.known_checks import has_passed
from interlock.events.state import State
from interlock.git.reverting import LineCommit
from interlock.model.errors import UsageError
from interlock.model.leases import variables
from interlock.model.outcome import CheckResult, Tip
from interlock.model.step import FindCulprit
from interlock.model.task import Commit, Reverted, TaskId, Tree, all_inputs
from interlock.train.undo import changes_of, landed_again, undoing
from interlock.verify.protocol import CheckOrder

MOST_COMMITS = 1_000


@dataclass(slots=True)
class Search:
    """The runs of one check on commits of main."""

    env: Env
    state: State
    step: FindCulprit
    runs: int = 0
    last: dict[Tree, CheckResult] = field(default_factory=dict)
    """The last result on each tree."""
    flaked: list[f.CheckFlaked] = field(default_factory=list)

    async def fails(self, commit: LineCommit | None) -> bool:
        """Run the check on one commit until it passes or has failed often enough (rule 1)."""
        if commit is None:
            return False
        needed, failed = RUNS, 0
        while failed < needed:
            before, result = self.last.get(commit.tree), await self._run(commit)
            self.last[commit.tree] = result
            if result.passed:
                if before and not before.passed:
                    self.flaked.append(flake(before, result))
                return False
            failed += 1
            needed = RUNS_AFTER_A_PASS if has_passed(self.state, result) else RUNS
        return True

    def contradicts(self, commit: LineCommit) -> bool:
        """Tell if the check has passed before on these files, on which it fails now."""
        return commit.tree in self.last and has_passed(self.state, self.last[commit.tree])

    async def _run(self, commit: LineCommit) -> CheckResult:
        self.runs += 1
        name = f"culprit/{commit.commit[:12]}-{self.runs}"
        inputs = all_inputs(task.spec for task in self.state.tasks.values())
        order = CheckOrder(
            name,
            commit.tree,
            (self.step.command,),
            self.step.timeout_seconds,
            variables(self.step.leased),
            leased=True,
            inputs=inputs,
        )
        (result,) = await run_known(self.env, order, never)
        return result


async def culprit_facts(env: Env, state: State, step: FindCulprit, who: str) -> list[f.Fact]:
    """Return the fact that names the commit, and those that put its revert into the train."""
    search = Search(env, state, step)
    tip = await env.reverts.at(step.main) if env.reverts else None
    if tip and (red := state.checks.baselines.get(step.command)) and red.tree == tip.tree:
        search.last[tip.tree] = red.result
    if tip and not await search.fails(tip):
        return [*search.flaked, *_green(state, step, tip, search.last[tip.tree])]
    found = await _blamed(search)
    return [*search.flaked, *await _facts_about(search, found, who)]


def _green(state: State, step: FindCulprit, tip: LineCommit, result: CheckResult) -> list[f.Fact]:
    """Return the facts by which main is not red with this check."""
    environment = state.run.environment if state.run else ""
    trial = Trial(Tip(state.main.branch, tip.commit, tip.tree), step.timeout_seconds, environment)
    red = state.main.broken.commands if state.main.broken else ()
    left = tuple(command for command in red if command != step.command)
    return [base_fact(trial, result), f.MainJudged(tip.commit, tip.tree, left)]


async def _facts_about(search: Search, found: LineCommit | None, who: str) -> list[f.Fact]:
    """Return the facts about a commit that is to blame."""
    env, state, step = search.env, search.state, search.step
    if found is None:
        return [f.CulpritFound(step.main, step.command)]
    if search.contradicts(found) or await search.fails(await _before(search, found)):
        return [f.CulpritFound(step.main, step.command, fails_before=True)]
    blamed = changes_of(state, {found.commit}).get(found.commit, Reverted(found.commit))
    task, plan = blamed.task, await _revert(env, state, step.main, blamed)
    conflicts = plan.revert.conflicts if plan else ()
    facts = _revert_facts(state, step, plan, who, is_ours=bool(task))
    by = next((fact.task for fact in facts if isinstance(fact, f.RevertPrepared)), TaskId(""))
    about = (found.commit, found.author, found.subject, task, conflicts, by)
    return [f.CulpritFound(step.main, step.command, *about), *facts]


async def _line(env: Env, state: State, step: FindCulprit) -> list[LineCommit]:
    """List the commits that may be to blame, oldest first: also each one below a merge of several tasks."""
    if env.reverts is None or not step.good or await env.reverts.at(step.good) is None:
        return []
    return await changes_on(env.reverts, state, step.good, step.main, most=MOST_COMMITS)


async def _blamed(search: Search) -> LineCommit | None:
    """Return the first commit on which the check fails; None: there is none to choose from."""
    line = await _line(search.env, search.state, search.step)
    broken = search.state.main.broken
    known = broken.culprit if broken else None
    hint = known.commit if known and known.command == search.step.command else ""
    if same := next((each for each in line if each.commit == hint), None):
        return same  # what is below it is as it was
    while len(line) > 1:
        first = await _first_red(search, line)
        if first == len(line) - 1 or await search.fails(line[first]):
            return line[first]
        line = line[first + 1 :]  # it failed by chance
    return line[0] if line else None


async def _first_red(search: Search, line: Sequence[LineCommit]) -> int:
    """Return the place of the first commit that fails; the last one is known to."""
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high) // 2
        if await search.fails(line[middle]):
            high = middle
        else:
            low = middle + 1
    return low


async def _before(search: Search, found: LineCommit) -> LineCommit | None:
    """Return the commit below; None: there is none, or the check was seen to pass there."""
    reverts = search.env.reverts
    below = await reverts.at(found.parent) if reverts and found.parent else None
    seen = search.last.get(below.tree) if below else None
    return None if seen and seen.passed else below


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
    if landed_again(state, plan.undoes):
        return []
    red = state.checks.baselines.get(step.command)
    result = red.result if red else CheckResult(step.command, 1)
    return facts_of(state, plan, step.main, who, result)
