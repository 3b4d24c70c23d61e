"""A network for attempts that have no model and reach no host."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from interlock.model.kinds import Wire
from interlock.model.outcome import Order
from interlock.run.network import Way
from interlock.run.options import ExecutorOptions


class NoNetwork:
    """A network without connections."""

    @asynccontextmanager
    async def to_model(self, _order: Order, _wire: Wire) -> AsyncIterator[Way]:
        yield Way()

    @asynccontextmanager
    async def to_hosts(self, _name: str, _hosts: tuple[str, ...]) -> AsyncIterator[Way]:
        yield Way()

    @asynccontextmanager
    async def to_tools(
        self, _serve: Callable[[Path, str], AbstractAsyncContextManager[None]]
    ) -> AsyncIterator[Way]:
        yield Way()

    @asynccontextmanager
    async def to_databases(self, _variables: Mapping[str, str]) -> AsyncIterator[Way]:
        yield Way()

    @asynccontextmanager
    async def to_hooks(self, _respond: Callable[[bytes], Awaitable[bytes]]) -> AsyncIterator[Way]:
        yield Way()


ALONE = ExecutorOptions(NoNetwork())
