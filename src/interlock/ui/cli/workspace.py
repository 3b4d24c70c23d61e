"""`interlock workspace`: folders of their own for people, beside those that agents work in."""

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from interlock.engine.project import Project
from interlock.events.state import State
from interlock.git.trash import LeftState
from interlock.git.worktrees import PersonWorkspace, Worktrees, folder_bytes, in_words
from interlock.model.durations import lasting
from interlock.ui.cli.app import CommandGroup
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_listing
from interlock.ui.cli.session import opened_fully, read, run_async


@dataclass(frozen=True, slots=True)
class AgentWorkspace:
    """A workspace that an attempt has."""

    task: str
    attempt: int
    path: Path
    is_running: bool
    age_seconds: float
    size_bytes: int | None


@click.group("workspace", cls=CommandGroup)
def workspace_command() -> None:
    """Make, list and remove folders to work in: linked git worktrees, each on a branch of its own.

    For example: interlock workspace new try-it
    """


@workspace_command.command("new")
@click.argument("name")
@click.option("--from", "start", metavar="REF", help="Start from this commit or branch instead of main.")
@click.pass_obj
def new(invocation: Invocation, name: str, start: str | None) -> None:
    """Make a workspace NAME on the branch interlock/NAME, from a freshly fetched main.

    For example: interlock workspace new try-it --from v1.2
    """
    made, told = run_async(_new(invocation, name, start))
    if told:
        note(told)
    text = f"{paint(name, 'cyan')}  {made.path}, on branch {made.branch} at {made.commit[:12]}"
    follow = f"next: {paint(f'cd {shlex.quote(str(made.path))}', 'cyan')}"
    say_listing(invocation, lambda: made, [text, follow])


async def _new(invocation: Invocation, name: str, start: str | None) -> tuple[PersonWorkspace, str]:
    async with opened_fully(invocation) as project:
        told = await project.repository.fetch() if project.settings.fetch and not start else ""
        return await worktrees(project).make(name, start or project.place.ref), told


@workspace_command.command("list")
@click.pass_obj
def listing(invocation: Invocation) -> None:
    """List your workspaces and those of agents: age, size, and work that is not on main yet.

    For example: interlock workspace list --json
    """
    mine, agents = run_async(_list(invocation))
    tables = _table([_mine(one) for one in mine]), _table([_agent(one) for one in agents])
    between = [""] if mine and agents else []
    lines = [*tables[0], *between, *tables[1]]
    say_listing(invocation, lambda: {"workspaces": mine, "agents": agents}, lines)
    if not lines and not invocation.wants_json():
        note("there are no workspaces; next: interlock workspace new NAME")


async def _list(invocation: Invocation) -> tuple[list[PersonWorkspace], list[AgentWorkspace]]:
    async with opened_fully(invocation) as project:
        state = (await read(project.store)).state
        return await worktrees(project).listing(), await asyncio.to_thread(_of_agents, project, state)


def _of_agents(project: Project, state: State) -> list[AgentWorkspace]:
    found = []
    for left in project.workspaces.listing():
        if left.state not in (LeftState.OPEN, LeftState.COLLECTED) or not left.path.name.isdecimal():
            continue
        task, attempt = left.path.parent.name, int(left.path.name)
        known = next((state.tasks[name] for name in state.index.running if name == task), None)
        is_running = known is not None and known.attempt == attempt
        found.append(
            AgentWorkspace(task, attempt, left.path, is_running, left.age_seconds, folder_bytes(left.path))
        )
    return sorted(found, key=lambda one: (one.task, one.attempt))


@workspace_command.command("remove")
@click.argument("name")
@click.option("--archive", is_flag=True, help="Archive unmerged work under refs/interlock/archive first.")
@click.option("--force", is_flag=True, help="Remove it with all uncommitted and unmerged work.")
@click.pass_obj
def remove(invocation: Invocation, name: str, archive: bool, force: bool) -> None:
    """Remove the workspace NAME and its branch. Refuses if it has work that is not on main.

    For example: interlock workspace remove try-it --archive
    """
    kept = run_async(_remove(invocation, name, archive, force))
    if invocation.wants_json():
        say_json({"removed": name, "archived": kept or None})
        return
    say(f"removed {name}")
    if kept:
        say(f"kept as {kept}")
        say(f"next: {paint(f'interlock workspace new {name} --from {kept}', 'cyan')} brings it back")


async def _remove(invocation: Invocation, name: str, archive: bool, force: bool) -> str:
    async with opened_fully(invocation) as project:
        return await worktrees(project).remove(name, archive=archive, force=force)


def worktrees(project: Project) -> Worktrees:
    common = project.place.common_dir
    root = common.parent if common.name == ".git" else common
    named = project.settings.workspace_folder
    folder = root / Path(named).expanduser() if named else root.parent / f"{root.name}-workspaces"
    return Worktrees(project.place, folder)


def _mine(one: PersonWorkspace) -> Sequence[str]:
    state = paint("clean", "green") if one.is_clean else paint(in_words(one), "yellow")
    return one.name, one.branch or "(no branch)", lasting(one.age_seconds), _size(one.size_bytes), state


def _agent(one: AgentWorkspace) -> Sequence[str]:
    state = paint("running", "blue") if one.is_running else "left over; the next run archives it"
    return one.task, f"attempt {one.attempt}", lasting(one.age_seconds), _size(one.size_bytes), state


def _size(size_bytes: int | None) -> str:
    return "?" if size_bytes is None else f"{size_bytes / 1e6:.1f} MB"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[4]])
        for row in rows
    ]
