"""Lessons from earlier attempts."""

from dataclasses import dataclass

from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Lesson:
    """A failure that was seen, and what fixed it; or what a person wants attempts to know.

    `symptom` and `fix` are words of programs and agents: evidence, shown in a fence and never as our own.
    """

    id: str
    mechanism: str
    """The failure, in a line."""
    text: str
    """The advice that the next attempt gets."""
    fingerprint: str
    """Id of the failure's symptom."""
    category: str = ""
    """The kind of work it holds for; empty: any."""
    paths: tuple[str, ...] = ()
    """Globs of the paths it holds for. Empty, and no `command` either: anywhere."""
    task: TaskId = TaskId("")
    attempt: int = 0
    commit: Commit = Commit("")
    """The source: the attempt that overcame the failure, and the commit that landed."""
    failed_attempt: int = 0
    command: str = ""
    """The check that went red and then green; the lesson holds for every task that has to pass it."""
    symptom: str = ""
    """The line of output that tells the failure."""
    fix: str = ""
    """Part of the difference between the change that landed and the one that failed."""
    author: str = ""
    """The person who wrote it; empty: it was learned."""
