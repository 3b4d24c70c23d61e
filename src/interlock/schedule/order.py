"""The order of tasks that could start.

Rules:
1. Within a day, critical tasks go first; then by score, the greater first:
   urgency (`tails`) + bonus of the priority + RATE * (time since it became ready).
2. Every score grows at the same rate, so the order of two tasks never changes while they wait, and the key
   that sorts them can be fixed when a task becomes ready: -(urgency + bonus) + RATE * ready_since.
3. Nothing starves. A task that became ready on day d has a key that starts with d (critical: d - 1), so what
   becomes ready from day d + 2 on sorts behind it, however critical. Only finitely many can ever pass it.
   (The score alone would not do: a steady stream of critical tasks would always come first.)
"""

from interlock.events.state import TaskState
from interlock.model.task import CRITICAL, NORMAL

Key = tuple[float, bool, float, str]
"""Sorts before others: starts before others. Ends in the id, so no two are equal."""

DAY_SECONDS = 86_400.0
RATE = 0.1
"""Ten minutes of waiting weigh as much as one minute of urgency: enough to break ties in favour of the older,
too little to undo critical-path order within a run (`python -m bench schedule` shows the makespan)."""
BONUS_SECONDS = 1_800.0
"""One step of priority weighs as much as half an hour of work that hangs on the task."""


def sort_key(task: TaskState, urgency_seconds: float) -> Key:
    spec = task.spec
    critical = spec.priority <= CRITICAL
    score = urgency_seconds + BONUS_SECONDS * (NORMAL - spec.priority)
    day = task.queue.ready_since // DAY_SECONDS - critical
    return (day, not critical, RATE * task.queue.ready_since - score, spec.id)
