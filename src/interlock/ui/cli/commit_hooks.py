"""Says that a pre-commit hook does not run when a change lands, and which check would do the same."""

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.engine.project import Project
from interlock.git.place import Place
from interlock.model.errors import UserError
from interlock.plan import Graph
from interlock.ui.cli.findings import Finding, Health

COPY = "copy it into the repository and name it in `verify`"


@dataclass(frozen=True, slots=True)
class CommitHook:
    """A hook that runs when a person commits, and not when a change lands."""

    path: str
    """Path of the hook, relative to the checkout if possible."""
    command: str
    """A command that runs the same as a check; empty if git does not track the hook."""


def commit_hook(place: Place) -> CommitHook | None:
    """The hook of this repository, if it has one."""
    root = place.work_tree
    if root is None:
        return None
    if (root / ".pre-commit-config.yaml").is_file():
        return CommitHook(".pre-commit-config.yaml", "pre-commit run --all-files")
    if (root / ".husky" / "pre-commit").is_file():
        return CommitHook(".husky/pre-commit", "sh .husky/pre-commit")
    folder = place.settings.get("core.hookspath", "")
    hook = (root / Path(folder).expanduser() if folder else place.common_dir / "hooks") / "pre-commit"
    if not hook.is_file() or not os.access(hook, os.X_OK):
        return None
    if hook.is_relative_to(root) and not hook.is_relative_to(place.common_dir):
        path = str(hook.relative_to(root))
        return CommitHook(path, f"./{path}")
    return CommitHook(os.path.relpath(hook, root) if hook.is_relative_to(root) else str(hook), "")


def unchecked_hook(project: Project, graph: Graph) -> CommitHook | None:
    """The hook that no check of the graph seems to run."""
    hook = commit_hook(project.place)
    commands = [command for task in graph.tasks for command in (*task.verify, *task.done_when)]
    if hook is None or any("pre-commit" in command for command in commands):
        return None
    return hook


def hook_note(hook: CommitHook) -> str:
    """One line about it."""
    return f"{hook.path} is a pre-commit hook, which does not run when a change lands: {_remedy(hook)}"


async def hook_findings(project: Project) -> list[Finding]:
    """A row if there is a hook that no check runs. What is wrong with the graph is said in another row."""
    try:
        hook = unchecked_hook(project, await project.read_graph())
    except UserError:
        return []
    if hook is None:
        return []
    text = f"{hook.path} does not run when a change lands"
    return [Finding("commit hook", Health.WARNING, text, _remedy(hook))]


def _remedy(hook: CommitHook) -> str:
    return f"add `{hook.command}` to `verify`" if hook.command else COPY
