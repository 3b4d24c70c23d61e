"""Remembers the last agent of each story: the next task of the story finds its context still warm."""

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.events.state_parts import Warm

STORIES_KEPT = 64
"""Many more than are worked on at once."""


def warm_up(warm: dict[str, Warm], task: TaskState, fact: f.Fact, row: Recorded) -> None:
    """Note that an agent has just ended its work on a story."""
    story = task.spec.story
    if not story or not isinstance(fact, f.AgentExited | f.WorkFinished):
        return
    warm.pop(story, None)  # so that the latest is the last
    warm[story] = Warm(task.spec.id, task.who.name, row.time)
    if len(warm) > STORIES_KEPT:
        del warm[next(iter(warm))]
