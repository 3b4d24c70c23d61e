"""Missing parts of a checkout that its own files name, and the pre-commit hook that no landing runs."""

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.engine.project import Project
from interlock.git.parts import AbsentPart, PartKind, absent_parts
from interlock.git.place import Place
from interlock.model.errors import UserError
from interlock.model.setup import Setup
from interlock.plan import Graph
from interlock.ui.cli.detecting import SetupFound, detect
from interlock.ui.queries.findings import Finding, good, warning

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is missing, and the command that brings it."""

    text: str
    fix: str

    def __str__(self) -> str:
        return f"{self.text}: {self.fix}"


async def lacks(project: Project, setup: Setup | None = None) -> list[Lack]:
    """Everything that agents and checks would miss, but for the folders that the graph's `setup` makes."""
    if project.place.work_tree is None:
        return []
    made = set(setup.folders) if setup else set[str]()
    folders = [lack_of(found) for found in detect(project.root).absent if not made.issuperset(found.absent)]
    return [*folders, *_of_parts(await absent_parts(project.place))]


async def lack_findings(project: Project) -> list[Finding]:
    missing = await lacks(project)
    rows = [warning("set-up", lack.text, lack.fix) for lack in missing]
    return rows or [good("set-up", "dependencies, submodules and LFS files are complete")]


def lack_of(setup: SetupFound) -> Lack:
    """A lock file without its folder."""
    first = f"install {setup.needs}, then " if setup.needs else ""
    lacking = f"{setup.source} exists, but {' and '.join(setup.absent)} does not"
    return Lack(lacking, f"{first}run `{setup.command}`")


def _of_parts(parts: tuple[AbsentPart, ...]) -> list[Lack]:
    found = [_of_submodule(part) for part in parts if part.kind is not PartKind.LFS]
    pointers = [part.path for part in parts if part.kind is PartKind.LFS]
    if pointers:
        some = ", ".join(pointers[:MOST_NAMED]) + (" ..." if len(pointers) > MOST_NAMED else "")
        found.append(Lack(f"git LFS files are not downloaded: {some}", "git lfs pull"))
    return found


def _of_submodule(part: AbsentPart) -> Lack:
    update, shown = f"git submodule update --init -- {part.path}", "agents and checks see submodule"
    if part.kind is PartKind.COMMIT:
        return Lack(
            f"submodule {part.path} has not the commit that the branch names: no check starts", update
        )
    if part.kind is PartKind.MOVED:
        return Lack(f"{shown} {part.path} at the commit of the branch, not at that of your checkout", update)
    if part.kind is PartKind.EDITED:
        return Lack(
            f"{shown} {part.path} as it was committed, without your edits", f"git -C {part.path} stash"
        )
    return Lack(f"submodule {part.path} is not checked out", update)


COPY = "copy it into the repository and name it in `verify`"


@dataclass(frozen=True, slots=True)
class CommitHook:
    """A hook that runs when a person commits, and not when a change lands."""

    path: str
    """Path of the hook, relative to the checkout if possible."""
    command: str
    """A command that runs the same as a check; empty if git does not track the hook."""


def commit_hook(place: Place) -> CommitHook | None:
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
    hook = commit_hook(project.place)
    commands = [command for task in graph.tasks for command in (*task.verify, *task.done_when)]
    if hook is None or any("pre-commit" in command for command in commands):
        return None
    return hook


def hook_note(hook: CommitHook) -> str:
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
    return [warning("commit hook", text, _remedy(hook))]


def _remedy(hook: CommitHook) -> str:
    return f"add `{hook.command}` to `verify`" if hook.command else COPY
