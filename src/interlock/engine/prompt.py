"""What an agent is told: the goal, when it counts as done, and what went wrong the last time."""

from interlock.events.state import Failure, TaskState

_RULES = """\
You work alone in this directory, a checkout of the repository. Change files here and nowhere else.
You may commit or not; what is in the directory when you exit is taken as your result.
Exit with status 0 when you are done.
"""


def prompt(task: TaskState) -> str:
    """The text for the next attempt of a task."""
    spec = task.spec
    parts = [f"# Task {spec.id}\n\n{spec.goal.strip()}\n", _RULES]
    if spec.done_when or spec.verify:
        commands = "\n".join(f"- `{command}`" for command in dict.fromkeys((*spec.done_when, *spec.verify)))
        parts.append(f"## Done when\n\nThese commands pass on your change merged onto main:\n\n{commands}\n")
    if spec.touches:
        parts.append("## Expected to touch\n\n" + "\n".join(f"- {glob}" for glob in spec.touches) + "\n")
    if task.notes:
        parts.append(f"## From the person who asked for another try\n\n{task.notes}\n")
    if task.failures:
        parts.append(_feedback(task.failures[-1]))
    return "\n".join(parts)


def _feedback(failure: Failure) -> str:
    return (
        f"## What happened to attempt {failure.attempt}\n\n"
        f"It failed at {failure.phase} ({failure.error.value}): {failure.summary}\n\n{failure.feedback}\n"
    )
