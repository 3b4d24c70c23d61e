"""Opens endpoints. The credential stays in this process: programs get a token that is worth nothing."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from interlock.proxy.gate import Gate, OpenGate
from interlock.proxy.order import Endpoint, EndpointOrder, ProxyLimits
from interlock.proxy.prices import Prices
from interlock.proxy.purse import Purse
from interlock.proxy.sockets import socket_path

_OPEN = OpenGate()
_LIMITS = ProxyLimits()


class ModelProxy:
    """One for the process. `environ` is read at each call, so that a renewed credential is used."""

    def __init__(
        self,
        environ: Mapping[str, str],
        folder: Path,
        gate: Gate = _OPEN,
        limits: ProxyLimits = _LIMITS,
        prices: Prices | None = None,
        purse: Purse | None = None,
    ) -> None:
        self._environ = environ
        self._folder = folder
        self._gate = gate
        self._limits = limits
        self._prices = prices or Prices()
        self._purse = purse or Purse()

    @asynccontextmanager
    async def open(self, order: EndpointOrder) -> AsyncIterator[Endpoint]:
        """An endpoint for one attempt. Leaving it ends every call that is under way."""
        from interlock.proxy.serving import Serving  # noqa: PLC0415 - aiohttp is slow to import, and `--help` has no use for it
        from interlock.proxy.till import Till  # noqa: PLC0415 - as above

        with socket_path(self._folder, "m", self._environ) as path:
            endpoint = Endpoint(order, str(path), order.token) if order.token else Endpoint(order, str(path))
            till = Till(self._purse, self._prices, order)
            with till.kept_open():
                async with Serving(endpoint, self._environ, self._gate, self._limits, till).listening():
                    yield endpoint
