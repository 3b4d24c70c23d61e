"""The best number of calls at once on a server that refuses none and only becomes slower. Pure.

Ollama and vLLM queue what they cannot work on, so nothing says "too many" but the time that answers take.
Work done per second at one level is compared with another level's: as long as more calls at once bring more
of it, they are let through. By Little's law that rate is calls at once x work / time, so it can be measured
while calls come and go. Work is the tokens of the answers; where a server does not count them, the answers.
"""

from dataclasses import dataclass

CALLS = 6
"""Least answers for each level; at two rounds, more where the level is higher."""
GAIN = 0.3
"""The share of the gain that a server with room would show. With none there is no gain at all."""
MOST_PATIENCE = 16


@dataclass(slots=True)
class Gradient:
    """Climbs while climbing pays, then looks again to both sides now and then."""

    level: int = 0
    calls: int = 0
    seconds: float = 0.0
    work: float = 0.0
    aim: int = 0
    """The level to compare with next. The way there is one more call for each answer, not all at once."""
    known_level: int = 0
    known_rate: float = 0.0
    direction: int = 1
    settled: bool = False
    """True if the best level is known: from here on in small steps."""
    rounds: int = 0
    patience: int = 1
    """Rounds at the known level before the next look to a side; doubles while none of them pays."""

    def next_level(self, level: int, at_once: int, seconds: float, tokens: int) -> int:
        """The level to go on with, after one more answer at `level`."""
        if level < self.aim:
            return level + 1
        if level != self.level:
            self.level, self.calls, self.seconds, self.work = level, 0, 0.0, 0.0
        if at_once < level:
            return level
        self.calls, self.seconds, self.work = (
            self.calls + 1,
            self.seconds + seconds,
            self.work + (tokens or 1),
        )
        if self.calls < max(CALLS, 2 * level):
            return level
        rate = level * self.work / max(self.seconds, 1e-6)
        self.calls, self.seconds, self.work = 0, 0.0, 0.0
        self.aim = self._compared(level, rate)
        return min(self.aim, level + 1)

    def forget(self) -> None:
        """Forget the measurements: the server turned a call away, so they are out of date."""
        self.known_level, self.level, self.aim, self.settled = 0, 0, 0, True

    def _compared(self, level: int, rate: float) -> int:
        if level == self.known_level or not self.known_level:
            self.known_level, self.known_rate = level, rate
            return self._look_around(level)
        low, high = sorted([(level, rate), (self.known_level, self.known_rate)])
        gain = (high[1] / low[1] - 1) / (high[0] / low[0] - 1)
        best = high if gain >= GAIN else low
        self.known_level, self.known_rate = best
        self.rounds = 0
        if best[0] == level:
            return self._step(level)
        self.settled, self.patience = True, min(2 * self.patience, MOST_PATIENCE)
        self.direction = -self.direction
        return self.known_level

    def _look_around(self, level: int) -> int:
        self.rounds += 1
        if self.settled and self.rounds < self.patience:
            return level
        self.rounds = 0
        return self._step(level)

    def _step(self, level: int) -> int:
        step = max(1, level // 4) if self.settled else level
        return max(1, level + self.direction * step)
