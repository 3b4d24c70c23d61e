"""A machine whose memory comes and goes."""

from interlock.engine.host import SESSION_BYTES, HostReading
from tests.sim.loop import Simulation

TOTAL_BYTES = 32 << 30
MOOD_SECONDS = 15.0


class MoodyHost:
    """Every few seconds it has room for another number of agents, now and then for none."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._dice = simulation.dice("host")
        self._until = 0.0
        self._room = 40
        self.is_calm = False

    def read(self) -> HostReading:
        if self._simulation.now() >= self._until:
            self._until = self._simulation.now() + self._dice.uniform(1.0, MOOD_SECONDS)
            self._room = self._dice.choice([-2, 0, 1, 3, 40, 40, 40])
        room = 40 if self.is_calm else self._room
        reserve = TOTAL_BYTES // 10
        return HostReading(TOTAL_BYTES, reserve + room * SESSION_BYTES + 1)
