"""What earlier attempts taught."""

from dataclasses import dataclass

from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Lesson:
    """A failure that was seen, and what fixed it; or what a person wants attempts to know.

    `symptom` and `fix` are words of programs and agents: evidence, shown in a fence and never as our own.
    """

    id: str
    mechanism: str
    """What goes wrong, in a line."""
    text: str
    """What to do, as the next attempt is told."""
    fingerprint: str
    """Of the failure's symptom."""
    category: str = ""
    """The kind of work it holds for; empty: any."""
    paths: tuple[str, ...] = ()
    """Where it holds, as globs. Empty, and no `command` either: anywhere."""
    task: TaskId = TaskId("")
    attempt: int = 0
    commit: Commit = Commit("")
    """Where it comes from: the attempt that overcame the failure, and the commit that landed."""
    failed_attempt: int = 0
    command: str = ""
    """The check that went red and then green; the lesson holds for whoever has to pass it."""
    symptom: str = ""
    """The line of output that tells the failure."""
    fix: str = ""
    """What the change that landed has and the one that failed had not, in part."""
    author: str = ""
    """The person who wrote it; empty: it was learned."""
