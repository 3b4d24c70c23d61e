"""How long the run that goes on will still take, worked out again only when something has happened."""

from interlock.events.state import State
from interlock.model.durations import lasting

AGAIN_SECONDS = 10.0
"""If nothing happens, a task is late: how often to think again."""
PAUSE_SECONDS = 2.0
"""The loop that starts agents waits meanwhile: not for every fact."""


class Eta:
    """Remembers what it found out."""

    def __init__(self) -> None:
        self._seq = -1
        self._at = 0.0
        self._ends: float | None = None

    def seconds(self, state: State, now: float) -> float | None:
        """From now until the last landing that is expected; None: nothing says how long the rest takes."""
        age = now - self._at
        if age > AGAIN_SECONDS or (self._seq != state.seq and age > PAUSE_SECONDS):
            from interlock.engine.foresight import remaining_seconds

            self._seq, self._at = state.seq, now
            left = remaining_seconds(state, now)
            self._ends = None if left is None else now + left
        return None if self._ends is None else max(0.0, self._ends - now)

    def text(self, state: State, now: float) -> str:
        """For the end of a line; nothing when nothing is left."""
        left = self.seconds(state, now)
        if left is None:
            return "time to go unknown yet"
        return f"about {lasting(left)} to go" if left >= 1 else ""
