"""Related work first, as long as nothing more urgent waits (P5).

Rules:
1. A task is related to what an agent has just ended if both belong to one story. Files, caches, and what the
   model's provider remembers of the same text are still warm then.
2. It may pass the first in order only if their scores are within BOUND_SECONDS, and neither a critical task
   nor one from an earlier day: their keys must agree in both. So nothing starves (`order`): what may pass a
   task although its key is greater became ready on the same day, and such tasks are finitely many.
"""

from heapq import heappop, heappush
from itertools import islice

from interlock.events.state import State
from interlock.model.reason import Value
from interlock.model.task import TaskId
from interlock.schedule.lines import Lines
from interlock.schedule.order import Key

BOUND_SECONDS = 300.0
"""The largest advantage, in seconds of score: a sixth of a step of priority."""
WARM_SECONDS = 300.0
"""About as long as providers remember the beginning of a prompt."""
STORIES_LOOKED_AT = 8


class Stories:
    """Tasks that stand in line, by story, the first in order first."""

    def __init__(self, state: State, lines: Lines) -> None:
        self._state = state
        self._lines = lines
        self._heaps: dict[str, list[tuple[Key, TaskId]]] = {}
        self._listed: set[tuple[str, Key]] = set()

    def put(self, story: str, key: Key, task: TaskId) -> None:
        """The task stands in line now, with this key."""
        if story and (story, key) not in self._listed:
            self._listed.add((story, key))
            heappush(self._heaps.setdefault(story, []), (key, task))

    def related(self, best: TaskId, now: float) -> tuple[TaskId, dict[str, Value]]:
        """Return the task to start: the first in order, or one of a warm story together with that story."""
        limit = self._lines.key(best)
        for story, warm in islice(reversed(self._state.warm.items()), STORIES_LOOKED_AT):
            if now - warm.time > WARM_SECONDS:
                break
            first = self._first(story)
            if first == best:
                break
            if first is not None and _is_near(self._lines.key(first), limit):
                return first, {"tasks": (warm.task,), "story": story}
        return best, {}

    def _first(self, story: str) -> TaskId | None:
        heap = self._heaps.get(story, [])
        while heap and not self._is_current(story, *heap[0]):
            self._listed.discard((story, heappop(heap)[0]))
        return heap[0][1] if heap else None

    def _is_current(self, story: str, key: Key, task: TaskId) -> bool:
        is_in_line = task in self._lines and self._lines.key(task) == key
        return is_in_line and self._state.tasks[task].spec.story == story


def _is_near(key: Key, limit: Key) -> bool:
    return key[:2] == limit[:2] and key[2] - limit[2] <= BOUND_SECONDS
