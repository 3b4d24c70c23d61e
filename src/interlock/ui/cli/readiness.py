"""Checks before a run starts: branch, programs of agents, set-up, and the copy that checks import."""

from pathlib import Path

import click

from interlock.engine.canary import patience
from interlock.engine.environment import environment
from interlock.engine.preflight import try_checks
from interlock.engine.project import Project
from interlock.engine.settings import load
from interlock.engine.trying import find_wrong_copy, try_canary
from interlock.events.evidence import canary_result
from interlock.events.state import State
from interlock.git.discover import discover
from interlock.git.place import Place
from interlock.model.canary import canary_key
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.outcome import CheckResult
from interlock.model.task import all_inputs
from interlock.plan import Graph
from interlock.ui.actions.observed import record_canary
from interlock.ui.cli.app import remember_setting
from interlock.ui.cli.output import note
from interlock.ui.cli.session import actor
from interlock.ui.words.evidence import canary_text, wrong_copy_fix, wrong_copy_text

branch_option = click.option(
    "--branch",
    metavar="NAME",
    expose_value=False,
    callback=remember_setting,
    help="Land on this branch (default: the setting `branch`, else main or master).",
)


async def ask_branch(path: Path, settings: dict[str, object]) -> dict[str, object]:
    """The settings with the branch that the person wants, if they are on one that is not the usual.

    It holds for this run alone: `branch` in interlock.toml is for good.
    """
    place = await discover(path)
    said = load(place.work_tree or place.common_dir, settings).settings.branch
    if said or place.head in ("", place.branch):
        return settings
    wanted = click.prompt(
        f"You are on {place.head}. Land on which branch?",
        type=click.Choice([place.branch, place.head]),
        default=place.branch,
        err=True,
    )
    return {**settings, "branch": wanted}


def elsewhere(place: Place, origin: str) -> str:
    """A line about the branch that work lands on, if another one is checked out here; else empty."""
    if place.work_tree is None or place.head == place.branch:
        return ""
    here = f"you are on {place.head}" if place.head else "your HEAD is detached"
    other = f"; --branch {place.head} lands there" if place.head and origin == "default" else ""
    return f"lands on {place.branch} ({here}{other}); your checkout is not changed"


async def refuse_absent_programs(project: Project, graph: Graph) -> None:
    """Refuse a run whose agents are files that the branch it lands on does not have.

    Each attempt would fail at its start.
    """
    place = project.place
    if place.work_tree is None:
        return
    used = {agent.name: agent for task in graph.tasks for agent in task.candidates}
    words = {word.removeprefix("./"): agent.name for agent in used.values() for word in agent.run}
    literal = place.checkout_git.having(GIT_LITERAL_PATHSPECS="1")
    inside = sorted(word for word in words if word and not word.startswith(("/", "-", "../")))
    if not inside:
        return
    held = (await literal.run("ls-files", "-z", "--", *inside, ok=(0, 128))).items
    there = await project.repository.files() if held else frozenset()
    for path in held:
        if path in words and path not in there:
            here = place.head or "your checkout"
            text = f"{place.branch} has no {path}, which the agent {words[path]} runs; {here} has it"
            raise UsageError(text, _how_to_have(path, place))


def _how_to_have(path: str, place: Place) -> str:
    if place.head in ("", place.branch):
        return f"commit {path} on {place.branch}"
    return f"interlock run --branch {place.head}, or merge {place.head} into {place.branch}"


LAST_LINES = 12


async def set_up_main(project: Project) -> None:
    """Carry out the graph's `setup` for main, if the checkout lacks what it makes."""
    setups = project.setups
    tree = (await project.repository.tip()).tree
    if setups.spec is None or not await setups.is_missing(tree):
        return
    setups.clear_up()
    hosts = ", ".join(project.settings.setup_hosts) or "no network"
    note(f"setting up: {' && '.join(setups.spec.run)} (with {hosts})")
    if failed := await setups.ensure(tree):
        raise _failure(project, failed)


def _failure(project: Project, failed: CheckResult) -> EnvironmentProblem:
    how = "timed out" if failed.timed_out else f"exited {failed.exit_code}"
    last = "\n".join(f"  {line}" for line in failed.tail.splitlines()[-LAST_LINES:])
    hint = f"run `{failed.command}` in your checkout"
    if not project.settings.setup_hosts:
        hint += ", or allow the hosts it needs: setup_hosts in your own settings, or INTERLOCK_SETUP_HOSTS"
    return EnvironmentProblem(
        f"no task started: the set-up `{failed.command}` {how} on {project.place.branch}\n{last}", hint
    )


async def refuse_wrong_copy(project: Project, graph: Graph, state: State) -> None:
    """Exit 7 if Python would import the project from elsewhere, and a canary shows that the checks do.

    Asked until the checks of the graph have noticed a canary; where nothing looks suspicious it costs the
    start of one interpreter.
    """
    inside, inputs = await environment(project), all_inputs(graph.tasks)
    seconds = {task.verify: task.check_seconds for task in graph.tasks if task.verify}
    for commands, limit in seconds.items():
        known = state.checks.canaries.get(canary_key(commands, inside))
        if known and known.noticed:
            continue
        copy = await find_wrong_copy(project, commands)
        if copy is None:
            continue
        on_main = await try_checks(project, commands, limit, inputs)
        if not all(check.passed for check in on_main):
            continue  # a check that is not green on main is told of by the run itself
        usual = sum(check.seconds for check in on_main)
        wait = patience(limit, usual)
        fact = await try_canary(project, commands, wait, usual, inputs=inputs)
        await record_canary(project.store, fact, actor())
        if (result := canary_result(fact)).is_blind:
            text = f"{canary_text(result, commands)}, {wrong_copy_text(copy)}"
            raise EnvironmentProblem(text, wrong_copy_fix(copy))
