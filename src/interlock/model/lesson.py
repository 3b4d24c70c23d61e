"""What earlier attempts taught."""

from dataclasses import dataclass

from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Lesson:
    """A failure that was seen, and what fixed it."""

    id: str
    mechanism: str
    """What goes wrong and why, in a line."""
    text: str
    """What to do, as the next attempt is told."""
    fingerprint: str
    """Of the failure."""
    category: str = ""
    """The kind of work it holds for; empty: any."""
    paths: tuple[str, ...] = ()
    """Where it holds; empty: anywhere."""
    task: TaskId = TaskId("")
    attempt: int = 0
    commit: Commit = Commit("")
    """Where it comes from: the attempt that overcame the failure, and the commit that landed."""
