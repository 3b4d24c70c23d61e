"""Refuses a run whose checks would test another copy of the project than the change."""

from interlock.engine.canary import patience
from interlock.engine.environment import environment
from interlock.engine.preflight import try_checks
from interlock.engine.project import Project
from interlock.engine.trying import find_wrong_copy, try_canary
from interlock.events.evidence import canary_result
from interlock.events.state import State
from interlock.model.canary import canary_key
from interlock.model.errors import EnvironmentProblem
from interlock.plan import Graph
from interlock.ui.cli.session import actor
from interlock.ui.words.evidence import canary_text, wrong_copy_fix, wrong_copy_text


async def refuse_wrong_copy(project: Project, graph: Graph, state: State) -> None:
    """Exit 7 if Python would import the project from elsewhere, and a canary shows that the checks do.

    Asked until the checks of the graph have noticed a canary; where nothing looks suspicious it costs the
    start of one interpreter.
    """
    inside = environment(project)
    seconds = {task.verify: task.check_seconds for task in graph.tasks if task.verify}
    for commands, limit in seconds.items():
        known = state.canaries.get(canary_key(commands, inside))
        if known and known.noticed:
            continue
        copy = await find_wrong_copy(project, commands)
        if copy is None:
            continue
        on_main = await try_checks(project, commands, limit)
        if not all(check.passed for check in on_main):
            continue  # a check that is not green on main is told of by the run itself
        usual = sum(check.seconds for check in on_main)
        fact = await try_canary(project, commands, patience(limit, usual), usual)
        await project.store.append([fact], actor())
        if (result := canary_result(fact)).is_blind:
            text = f"{canary_text(result, commands)}, {wrong_copy_text(copy)}"
            raise EnvironmentProblem(text, wrong_copy_fix(copy))
