"""Decides about a main that another hand has moved. The rules of landings meanwhile are in `events.main`.

Rules:
1. The checks that passed before run on it as soon as a change is on its way to it; on a broken main at once.
2. A check that passed before and fails now breaks main, also where it cannot run any more. Trouble of the
   machine does not.
3. One that fails by chance does not: a red result counts if it comes twice, and four times on files on which
   the check has passed before (`engine.baseline`). The search looks once more before it blames a commit.
4. The commit to blame is searched once for each such main, and once more when the setting says by then that
   it is reverted. If a task landed it, its revert goes through the train and the task starts again. A commit
   of a person is reverted only with `on_red_main: revert`.
5. A run that stops still judges main, so that finished work lands, and searches for nothing.
"""

from collections.abc import Iterable

from interlock.events import facts as f
from interlock.events.main import freezes, unjudged
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Broken
from interlock.model.outcome import Tip
from interlock.model.step import CheckMain, FindCulprit
from interlock.model.suite import Unable

CHECK_SECONDS = 900.0


def main_steps(state: State) -> list[CheckMain | FindCulprit]:
    """Return the look at main that comes next, if there is one."""
    main, run = state.main, state.run
    seconds = max((task.spec.check_seconds for task in _in_train(state)), default=CHECK_SECONDS)
    if commands := unjudged(state):
        return [CheckMain(commands, (), seconds)]
    if run is None or run.stopping or not freezes(state):
        return []
    if main.broken is None or main.unjudged or _is_searched(main.broken, run.on_red_main):
        return []
    return [FindCulprit(main.commit, main.good, main.broken.commands[0], seconds)]


def _is_searched(broken: Broken, rule: str) -> bool:
    return broken.searched == rule if rule == "revert" else bool(broken.searched)


def _in_train(state: State) -> list[TaskState]:
    return [state.tasks[name] for name in state.index.train]


def judgement(state: State, main: Tip, checked: Iterable[f.Fact]) -> list[f.Fact]:
    """Return the judgement of main that these results allow; none if some are missing."""
    if not state.main.unjudged or not freezes(state) or main.commit != state.main.commit:
        return []
    found = (fact for fact in checked if isinstance(fact, f.BaseChecked))
    results = {fact.command: fact.result for fact in found if fact.result and not fact.promised}
    ran = {command: results[command] for command in state.main.green if command in results}
    red = tuple(c for c, result in ran.items() if not result.passed and result.unable is not Unable.MACHINE)
    if not red and (not ran or not ran.keys() >= set(unjudged(state))):
        return []
    return [f.MainJudged(main.commit, main.tree, red)]
