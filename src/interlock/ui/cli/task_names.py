"""Names of tasks for a shell that completes a word: fast, and silent whatever happens."""

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from interlock.events.state import State
    from interlock.ui.cli.output import Invocation

PARAMETERS = ("task", "tasks", "what", "only", "start_from")


class TaskName(click.types.StringParamType):
    """A text that stands for a task."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """The tasks whose name begins like this, or else has it somewhere; each with its state."""
        try:
            found = _names()
        except Exception:  # noqa: BLE001 - a shell is in the middle of a line: no error is worth disturbing it
            return []
        fitting = [name for name in found if name.startswith(incomplete)]
        fitting = fitting or [name for name in found if incomplete in name]
        return [CompletionItem(name, help=found[name]) for name in fitting]


def complete_tasks(params: list[click.Parameter]) -> None:
    """Let a shell complete the parameters of a command that name tasks."""
    for param in params:
        if param.name in PARAMETERS and isinstance(param.type, click.types.StringParamType):
            param.type = TaskName()


def _names() -> dict[str, str]:
    from interlock.ui.cli.output import Invocation
    from interlock.ui.cli.session import run_async

    state = run_async(_state(Invocation()))
    stages = {str(name): task.stage.value for name, task in state.tasks.items()}
    stages |= dict.fromkeys(map(str, state.done.packed), "done")
    return {name: stage for name, stage in stages.items() if stage != "removed"}


async def _state(invocation: "Invocation") -> "State":
    from interlock.engine.loading import load_state
    from interlock.ui.cli.session import opened

    async with opened(invocation) as project:
        return await load_state(project.store)
