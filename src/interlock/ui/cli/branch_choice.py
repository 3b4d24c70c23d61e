"""The branch that a run lands on: asked where a person is on another one, and always said."""

from pathlib import Path

import click

from interlock.engine.project import Project
from interlock.engine.settings import load
from interlock.git.discover import discover
from interlock.git.place import Place
from interlock.model.errors import UsageError
from interlock.plan import Graph
from interlock.ui.cli.app import remember_setting

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
    """Where work lands, if that is not what is checked out here; else nothing."""
    if place.work_tree is None or place.head == place.branch:
        return ""
    here = f"you are on {place.head}" if place.head else "your HEAD is detached"
    other = f"; --branch {place.head} lands there" if place.head and origin == "default" else ""
    return f"lands on {place.branch} ({here}{other}); your checkout stays as it is"


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
