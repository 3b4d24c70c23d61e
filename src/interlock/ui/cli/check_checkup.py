"""The check rows of `doctor`: each check runs on main, then main is broken on purpose to see if it fails."""

from collections.abc import AsyncIterator, Awaitable, Callable

from interlock.engine.canary import patience
from interlock.engine.ledger import Tell
from interlock.engine.preflight import try_checks
from interlock.engine.project import Project
from interlock.engine.trying import find_wrong_copy, try_canary
from interlock.events.evidence import canary_result
from interlock.events.facts import CanaryTried
from interlock.model.outcome import CheckResult
from interlock.model.task import all_inputs
from interlock.plan import Graph
from interlock.ui.cli.trying import in_words
from interlock.ui.queries.findings import Finding, bad, good, warning
from interlock.ui.words.checks import lacking, main_text
from interlock.ui.words.evidence import canary_text, wrong_copy_fix, wrong_copy_text

Keep = Callable[[CanaryTried], Awaitable[None]]


async def check_findings(project: Project, canary: bool, tell: Tell, keep: Keep) -> AsyncIterator[Finding]:
    """A row for each command of the graph, and one for each canary.

    `tell` hears what takes long. `keep` writes down a canary that was noticed, so that no run tries it again.
    """
    graph = await project.read_graph()
    if not any(task.verify or task.done_when for task in graph.tasks):
        text = "no task has a check: all changes land as observed"
        yield warning("checks", text, f"set `verify` in {project.settings.graph}")
        return
    project.place.ensure_state()
    tried: dict[str, CheckResult] = {}
    inputs = all_inputs(graph.tasks)
    verifying = {command for task in graph.tasks for command in task.verify}
    for command, seconds in _commands(graph).items():
        tell(f"trying `{command}` on {project.place.branch}")
        (tried[command],) = await try_checks(project, [command], seconds, inputs)
        yield check_finding(tried[command], is_promise=command not in verifying)
    for commands in dict.fromkeys(task.verify for task in graph.tasks if task.verify):
        if canary and all(tried[command].passed for command in commands):
            usual = sum(tried[command].seconds for command in commands)
            limit = max(map(_commands(graph).__getitem__, commands))
            fact = await try_canary(project, commands, patience(limit, usual), usual, tell, inputs)
            if fact.noticed:
                await keep(fact)
            yield await _canary_finding(project, fact)


def check_finding(check: CheckResult, is_promise: bool = False) -> Finding:
    """One check on main, in words. `is_promise`: it is a task's `done_when`, which may be red until then."""
    tried = in_words(check)
    if check.passed:
        unseen = "" if tried.tests else ", so removed ones go unseen"
        return good("check", f"`{check.command}` {tried.text}{unseen}")
    if check.unable:
        return bad("check", f"`{check.command}`: {tried.text}", tried.fix, tried.lines)
    if is_promise:
        text = f"`{check.command}` runs, and fails in {check.seconds:.1f} s until its task is done"
        return good("check", text)
    if check.suite and tried.is_usable:
        return warning("check", f"`{check.command}`: {tried.text}", detail=check.suite.failed[:8])
    fix = f"fix main, or name single tests{lacking(check)}"
    return bad("check", f"`{check.command}` {main_text(check)}", fix, tried.lines)


async def _canary_finding(project: Project, fact: CanaryTried) -> Finding:
    commands, result = fact.commands, canary_result(fact)
    if result.is_untried:
        fix = (
            "use a faster check" if result.given_up else "read what lands, or let people review it (`review`)"
        )
        return warning("canary", canary_text(result, commands), fix)
    if not result.is_blind:
        return good("canary", canary_text(result, commands))
    if copy := await find_wrong_copy(project, commands):
        text = f"{canary_text(result, commands)}, {wrong_copy_text(copy)}"
        return bad("canary", text, wrong_copy_fix(copy))
    fix = "use a command that runs your tests on the checkout itself, and fails if one of them fails"
    if result.by_build:
        fix = "if it runs a linter before the tests, make them two commands of `verify`"
    return warning("canary", canary_text(result, commands), fix)


def _commands(graph: Graph) -> dict[str, float]:
    """Every command once, with the longest time that a task gives it; the project's own first."""
    found: dict[str, float] = {}
    for task in sorted(graph.tasks, key=lambda task: not task.verify):
        for command in (*task.verify, *task.done_when):
            found[command] = max(found.get(command, 0.0), task.check_seconds)
    return found
