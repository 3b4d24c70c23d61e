"""Protocols of the brake: news of providers for the engine, and reports of attempts to it."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why
from interlock.proxy.brake.news import ProviderNews


class Brakes(Protocol):
    """The brakes of all providers, as one listener hears of them."""

    def look(self, provider: str, limit: float) -> ProviderNews:
        """This provider will be used. `limit` was found by an earlier run; 0: none was."""
        ...

    async def wait(self) -> list[ProviderNews]:
        """Return the news; waits until there is some."""
        ...

    def rest(self) -> list[ProviderNews]:
        """Return the news that has not been told yet."""
        ...


class NoBrakes:
    """Brakes that hold no call back and have no news."""

    def look(self, provider: str, limit: float) -> ProviderNews:
        return ProviderNews(provider, int(limit), Reason(Why.NOTHING_KNOWN))

    async def wait(self) -> list[ProviderNews]:
        never: asyncio.Future[list[ProviderNews]] = asyncio.get_running_loop().create_future()
        return await never

    def rest(self) -> list[ProviderNews]:
        return []


class Attendance(Protocol):
    """The listener for one attempt whose calls do not go through the proxy."""

    def hear(self, error: ErrorClass | None, text: str) -> None:
        """Its program says that a call was turned away, and goes on."""
        ...

    def ended(self, error: ErrorClass | None, text: str) -> None:
        """Note the end: well, or with this error."""
        ...


class Accounts(Protocol):
    """The accounts that programs are logged in with."""

    def attend(self, account: str) -> AbstractContextManager[Attendance]:
        """An attempt is made with it, for as long as this lasts."""
        ...


class NoAccounts:
    """Accounts that ignore everything."""

    @contextmanager
    def attend(self, account: str) -> Iterator[Attendance]:  # noqa: ARG002 - by its name, as `Accounts` has it
        yield self

    def hear(self, error: ErrorClass | None, text: str) -> None:
        """Ignore any error."""

    def ended(self, error: ErrorClass | None, text: str) -> None:
        """Ignore any end."""
