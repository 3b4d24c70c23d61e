"""Results of checks on main: those that hold tasks back, and those that must be known before a start.

Rules:
1. A result counts for the tree and the environment it was found in. A landing carries it over to the tree
   that was checked and landed; a commit that Interlock did not land does not.
2. A result that holds tasks back counts in the run that found it: a person may have mended what was missing.
3. Once a run knows how a check ended, a foreign commit does not make it ask again before a start:
   the checks of the next change find out.
4. A change that undoes others is checked although a result holds it back: it may be what main needs.
   If it is not, it waits as others do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from interlock.events.state import State, TaskState
from interlock.model.outcome import Baseline, CheckResult
from interlock.model.reason import Why
from interlock.model.suite import RedMain
from interlock.model.task import Task, TaskId, Tree


def on_main(state: State, spec: Task, command: str, tree: Tree, saw: Tree = Tree("")) -> CheckResult | None:
    """Return the known result of a check on this tree of main, for judging a change of this task.

    `saw`: what the check sees of the tree; a result counts for another one in which it sees the same.
    By rule 2 a result of an earlier run that holds the task back is not known: it is tried again. `obstacle`
    passes over it too, so the task would be checked and deferred without end.
    """
    found = state.checks.baselines.get(command)
    if found is None or found.environment != _environment(state) or not _is_same_check(found, spec):
        return None
    if found.tree != tree and not (saw and found.result.saw == saw):
        return None
    return found.result if _is_of_this_run(state, found) or not holds(found.result, spec) else None


def unseen(state: State, spec: Task) -> list[str]:
    """The checks of a task that must be tried on main before its agent starts."""
    if not _environment(state):
        return []
    return [command for command in _commands(spec) if _is_unseen(state, spec, command)]


def _is_unseen(state: State, spec: Task, command: str) -> bool:
    found = state.checks.baselines.get(command)
    if found is None or found.environment != _environment(state) or not _is_same_check(found, spec):
        return True
    is_here, is_own = found.tree == state.main.tree, _is_of_this_run(state, found)
    return not (is_here and is_own) and (not (is_here or is_own) or holds(found.result, spec))


def last_on_main(state: State, spec: Task, command: str) -> CheckResult | None:
    """Return the last result of a check on main, on any tree."""
    found = state.checks.baselines.get(command)
    return found.result if found and _is_same_check(found, spec) else None


def _is_same_check(found: Baseline, spec: Task) -> bool:
    """False if the graph says by now that the command sees other files."""
    return found.result.inputs == spec.inputs_of(found.result.command)


def obstacle(state: State, task: TaskState) -> CheckResult | None:
    """The check on main that keeps a task from starting and from being checked."""
    spec = task.spec
    for command in _commands(spec) if state.checks.baselines and not _may_help(task) else ():
        found = state.checks.baselines.get(command)
        if found is None or found.result.passed or not _is_of_this_run(state, found):
            continue
        if found.tree == state.main.tree and holds(found.result, spec):
            return found.result
    return None


def _may_help(task: TaskState) -> bool:
    """True for a change that undoes others, until it was checked in vain (rule 4)."""
    return task.spec.reverts and not (task.why and task.why.code == Why.MAIN_IN_THE_WAY)


def holds(result: CheckResult, spec: Task) -> bool:
    """Return True if a change of this task cannot pass, because of the check's result on main."""
    if result.passed:
        return False
    if result.command in spec.done_when:
        return result.unable is not None and result.unable.is_beyond_a_change(result.about)
    return result.unable is not None or spec.red_main == RedMain.STRICT or not _is_excusable(result, spec)


def _is_excusable(result: CheckResult, spec: Task) -> bool:
    return spec.red_main == RedMain.ALLOW or (result.suite is not None and result.suite.names_failures)


def known_failures(state: State) -> dict[str, CheckResult]:
    """The red checks of main as it stands, by command."""
    wanted = {
        command
        for task in state.tasks.values()
        if not task.is_over or task.change.landed
        for command in task.spec.verify
    }
    return {
        command: found.result
        for command, found in state.checks.baselines.items()
        if command in wanted and found.tree == state.main.tree and not found.result.passed
    }


def is_red(state: State) -> bool:
    found = state.checks.baselines.values()
    return any(not baseline.result.passed for baseline in found) and bool(known_failures(state))


def held_back(state: State) -> set[TaskId]:
    if all(found.result.passed for found in state.checks.baselines.values()):
        return set()
    return {name for name, task in state.tasks.items() if not task.is_over and obstacle(state, task)}


def advance(state: State, task: TaskState) -> None:
    """Main is now the tree that was checked: what the checks showed there is what they show on main."""
    candidate, run = task.change.candidate, state.run
    if candidate is None or run is None:
        return
    for result in candidate.results:
        before = state.checks.baselines.get(result.command)
        carried = carried_over(before.result if before else None, result)
        state.checks.baselines[result.command] = Baseline(candidate.tree, run.environment, run.run, carried)


def carried_over(before: CheckResult | None, result: CheckResult) -> CheckResult:
    """A candidate names only the passed tests that its base did not have, unless one of these is gone."""
    if result.suite is None or before is None or before.suite is None:
        return result
    if result.passed and (result.suite.names_passes or not before.suite.names_passes):
        return result
    gone = set(result.vanished)  # what an undo has taken along
    passed = dict.fromkeys(name for name in (*before.suite.passed, *result.suite.passed) if name not in gone)
    return replace(result, suite=replace(result.suite, passed=tuple(passed)))


def kept(checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Drop the parts that only people read."""
    return tuple(replace(check, tail="", log="", red_on_base=False) for check in checks)


def _commands(spec: Task) -> Iterator[str]:
    return iter(dict.fromkeys((*spec.verify, *spec.done_when)))


def forget_old(state: State) -> None:
    """A run begins: drop the results on older trees of main that no task asks for any more."""
    wanted = {command for task in state.tasks.values() for command in _commands(task.spec)}
    state.checks.baselines = {
        command: found
        for command, found in state.checks.baselines.items()
        if found.tree == state.main.tree or command in wanted
    }


def _environment(state: State) -> str:
    return state.run.environment if state.run else ""


def _is_of_this_run(state: State, found: Baseline) -> bool:
    return state.run is not None and found.run == state.run.run
