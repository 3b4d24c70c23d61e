"""A look if model servers can be reached: before the first agent starts, and again while a
server is down, so that no attempt has to find out."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from socket import SOCK_STREAM
from urllib.parse import urlsplit

from interlock.proxy.brake.brake import ProviderBrake
from interlock.proxy.brake.throttle import CHECK_AHEAD_SECONDS, CallVerdict

CONNECT_SECONDS = 2.0
"""A server that takes longer is neither known to listen nor known not to."""
LOOK_SECONDS = CHECK_AHEAD_SECONDS / 3
PORTS = {"http": 80, "https": 443}
MOST_LOOKS = 40
"""So often in a row a server is found to be down before attempts are let through to it: those are counted, so
that a run does not wait for ever."""


class ServerCheck:
    """Opens a connection and closes it again. What goes out through another proxy cannot be tried so."""

    def __init__(self, brake: ProviderBrake, environ: Mapping[str, str]) -> None:
        self._brake = brake
        self._environ = environ
        self._servers: dict[str, str] = {}
        self._looks: Counter[str] = Counter()

    async def check(self, servers: Mapping[str, str]) -> None:
        """Try all of these at once: provider and address. A server that is down is closed for a while; one
        that was is open again."""
        if not servers:
            return
        from interlock.proxy.exchange import outer_proxy  # noqa: PLC0415 - aiohttp is slow to import

        self._servers = {name: url for name, url in servers.items() if not outer_proxy(url, self._environ)}
        await asyncio.gather(*map(self._try, self._servers))

    async def watch(self) -> None:
        """Try the servers that are down again, until cancelled: shortly before each would be open again, so
        that no agent starts only to find it closed."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.gather(*(self._try(name) for name in self._servers if self._is_due(name)))

    def _is_due(self, provider: str) -> bool:
        news = self._brake.look(provider, 0.0)
        ahead = news.until - self._brake.clock()
        is_near = news.closed_by is CallVerdict.DOWN and 0 < ahead <= CHECK_AHEAD_SECONDS
        return is_near and self._looks[provider] < MOST_LOOKS

    async def _try(self, provider: str) -> None:
        with suppress(TimeoutError):
            problem = await problem_of(self._servers[provider])
            self._looks[provider] = self._looks[provider] + 1 if problem else 0
            self._brake.found(provider, problem)


async def problem_of(url: str) -> str:
    """Tell that no server listens there; '' if one does. Raises TimeoutError if it cannot be told.

    Only refused connections tell: a name that cannot be looked up may be known where the call goes out.
    """
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=SOCK_STREAM)
            if any([await _listens(str(address[0]), port) for *_, address in found]):
                return ""
    except OSError as problem:
        raise TimeoutError from problem
    return f"the model at {parts.netloc} cannot be reached: connection refused"


async def _listens(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except ConnectionRefusedError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
