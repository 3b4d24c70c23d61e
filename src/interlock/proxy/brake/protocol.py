"""What the engine asks of the brakes: what there is to tell of providers. And what attempts tell them."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from interlock.model.outcome import ErrorClass
from interlock.proxy.brake.news import News


class Brakes(Protocol):
    """The brakes of all providers, as one listener hears of them."""

    def look(self, provider: str, limit: float) -> News:
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

    def look(self, provider: str, limit: float) -> News:
        """Whoever it is."""
        return News(provider, int(limit), "")

    async def wait(self) -> list[News]:
        """For ever."""
        never: asyncio.Future[list[News]] = asyncio.get_running_loop().create_future()
        return await never

    def rest(self) -> list[News]:
        """There is none."""
        return []


class Attendance(Protocol):
    """What is heard of one attempt whose calls nobody sees."""

    def hear(self, error: ErrorClass | None, text: str) -> None:
        """Its program says that a call was turned away, and goes on."""
        ...

    def ended(self, error: ErrorClass | None, text: str) -> None:
        """It has ended: well, or with this."""
        ...


class Accounts(Protocol):
    """The accounts that programs are logged in with."""

    def attend(self, account: str) -> AbstractContextManager[Attendance]:
        """An attempt is made with it, for as long as this lasts."""
        ...


class NoAccounts:
    """Nobody listens."""

    @contextmanager
    def attend(self, account: str) -> Iterator[Attendance]:  # noqa: ARG002 - by its name, as `Accounts` has it
        """Whichever it is."""
        yield self

    def hear(self, error: ErrorClass | None, text: str) -> None:
        """Whatever it says."""

    def ended(self, error: ErrorClass | None, text: str) -> None:
        """However."""
