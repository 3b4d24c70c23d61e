"""The exit code that says how things stand: for `run`, `wait` and `status --exit-code`."""

from collections.abc import Iterable

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.ui.cli.exits import ExitCode
from interlock.ui.queries.status import obstacles
from interlock.ui.reading import Reading


def verdict(reading: Reading) -> ExitCode:
    """The status as an exit code: still running, all landed, a person must answer, or not landed."""
    if reading.is_live:
        return ExitCode.RUNNING
    state = reading.state
    code = outcome(
        [t for name, t in state.tasks.items() if t.stage is not Stage.REMOVED and state.is_selected(name)]
    )
    return ExitCode.ENVIRONMENT if code is ExitCode.FAILED and obstacles(state) else code


def outcome(wanted: Iterable[TaskState]) -> ExitCode:
    """The exit code for tasks that no agent works on."""
    left = [task for task in wanted if task.stage is not Stage.DONE]
    if not left:
        return ExitCode.OK
    needs_person = any(task.asks for task in left) and not any(task.is_over for task in left)
    return ExitCode.NEEDS_PERSON if needs_person else ExitCode.FAILED
