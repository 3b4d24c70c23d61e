"""What the engine asks of the brakes: what there is to tell of providers."""

import asyncio
from typing import Protocol

from interlock.run.brake.news import News


class Brakes(Protocol):
    """The brakes of all providers, as one listener hears of them."""

    def look(self, provider: str, limit: float) -> None:
        """This provider will be used. `limit` is what the log knows of it; 0: nothing."""
        ...

    async def wait(self) -> list[News]:
        """What is new; takes until there is something."""
        ...

    def rest(self) -> list[News]:
        """What has not been told yet."""
        ...


class NoBrakes:
    """Nothing is held back, and there is nothing to tell."""

    def look(self, provider: str, limit: float) -> None:
        """Whoever it is."""

    async def wait(self) -> list[News]:
        """For ever."""
        never: asyncio.Future[list[News]] = asyncio.get_running_loop().create_future()
        return await never

    def rest(self) -> list[News]:
        """There is none."""
        return []
