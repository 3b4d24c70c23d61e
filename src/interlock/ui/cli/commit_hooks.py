"""Says that a pre-commit hook does not run when a change lands, and which check would do the same."""

from interlock.engine.project import Project
from interlock.git.commit_hooks import CommitHook, commit_hook
from interlock.model.errors import UserError
from interlock.plan import Graph
from interlock.ui.cli.findings import Finding, Health

COPY = "copy it into the repository and name it in `verify`"


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
