"""The real network of attempts: the model proxy, and the proxy to allowed hosts.

A program that is alone in its network finds both on fixed forwarded ports. One that shares the host's gets
forwarded ports that are free there.
"""

import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from interlock.model.errors import UsageError
from interlock.model.kinds import Wire
from interlock.model.outcome import Order
from interlock.model.provider import HOMES
from interlock.model.sandbox import ForwardedPort
from interlock.model.task import Agent
from interlock.proxy import EgressProxy, EndpointOrder, ModelProxy
from interlock.proxy.sockets import socket_path
from interlock.run.attempt_token import attempt_token
from interlock.run.databases import to_databases
from interlock.run.hooks.listener import Respond, listen
from interlock.run.network import ProxyRecord, Way

if TYPE_CHECKING:
    from interlock.store.databases import Databases

MODEL_PORT = 18080
HOSTS_PORT = 18081
HOOKS_PORT = 18082
TOOLS_PORT = 18083
DATABASES_PORT = 18084
"""And the next ones: an attempt may have several."""
HERE = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ProxyNetwork:
    """Implements `interlock.run.network.Network`."""

    models: ModelProxy
    egress: EgressProxy
    logs: Path
    alone: bool
    """Programs have a network of their own."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts that the project lets every attempt reach."""
    key_hosts: tuple[str, ...] = ()
    """Pairs of a key and the host that the user lets it go to."""
    databases: "Databases | None" = None
    """Makes databases; None: the user has named no server."""
    secret: bytes = field(default=b"", repr=False)
    """The project's secret, from which the tokens of attempts are made; empty: they are random."""

    @asynccontextmanager
    async def to_model(self, order: Order, wire: Wire) -> AsyncIterator[Way]:
        agent = order.agent
        check_key(agent, self.key_hosts)
        transcript = self.logs / order.task / f"{order.attempt}.model.jsonl"
        token = attempt_token(self.secret, order.task, order.attempt) if self.secret else ""
        asked = EndpointOrder(str(order.key), wire, agent.url, agent.key_env, transcript, token)
        asked = replace(asked, key=order.key, reserved=order.reserved)
        async with self.models.open(asked) as endpoint:
            port = self._port(MODEL_PORT)
            yield Way(
                url=f"http://{HERE}:{port}",
                token=endpoint.token,
                forwarded_ports=(ForwardedPort(port, endpoint.socket),),
                seen=lambda: ProxyRecord(endpoint.usage, endpoint.last_error),
            )

    @asynccontextmanager
    async def to_hosts(self, name: str, hosts: tuple[str, ...]) -> AsyncIterator[Way]:
        async with self.to(name, (*self.allow_hosts, *hosts)) as way:
            yield way

    @asynccontextmanager
    async def to(self, name: str, hosts: tuple[str, ...]) -> AsyncIterator[Way]:
        """Open the way to exactly these hosts."""
        if not hosts:
            yield Way()
            return
        async with self.egress.open(name, hosts) as opened:
            port = self._port(HOSTS_PORT)
            yield Way(
                forwarded_ports=(ForwardedPort(port, opened.socket),),
                env=_proxy_variables(f"http://{HERE}:{port}"),
            )

    @asynccontextmanager
    async def to_databases(self, variables: Mapping[str, str]) -> AsyncIterator[Way]:
        sockets = self.logs.parent / "sockets"
        async with to_databases(
            self.databases, variables, sockets, lambda number: self._port(DATABASES_PORT + number)
        ) as way:
            yield way

    @asynccontextmanager
    async def to_hooks(self, respond: Respond) -> AsyncIterator[Way]:
        async with listen(self.logs.parent / "sockets", respond) as path:
            yield Way(forwarded_ports=(ForwardedPort(self._port(HOOKS_PORT), path),))

    @asynccontextmanager
    async def to_tools(
        self, serve: Callable[[Path, str], AbstractAsyncContextManager[None]]
    ) -> AsyncIterator[Way]:
        token = secrets.token_urlsafe(24)
        with socket_path(self.logs.parent / "sockets", "t", os.environ) as path:
            async with serve(path, token):
                port = self._port(TOOLS_PORT)
                url = f"http://{HERE}:{port}/mcp"
                env = {"INTERLOCK_MCP_URL": url, "INTERLOCK_MCP_TOKEN": token}
                yield Way(url, token, (ForwardedPort(port, str(path)),), env)

    def _port(self, usual: int) -> int:
        return usual if self.alone else _free_port()


def check_key(agent: Agent, agreed: Collection[str]) -> None:
    """Refuse a key for a host without the user's leave: a graph's author must not collect the user's keys."""
    host = urlsplit(agent.url).hostname or ""
    pair = f"{agent.key_env}@{host}"
    if not agent.key_env or not host or _is_here(host) or host in _PROVIDERS or pair in agreed:
        return
    raise UsageError(
        f'agent "{agent.name}" would send the key in {agent.key_env} to {host}',
        f'if you want that, write key_hosts = ["{pair}"] into your own settings file '
        f"(`interlock config path` names it, last), or set INTERLOCK_KEY_HOSTS={pair}",
    )


_PROVIDERS = frozenset(urlsplit(home.upstream).hostname for home in HOMES.values())


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _free_port() -> int:
    """Return a port without a listener. Should another process take it first, the attempt is tried again."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])


def _proxy_variables(url: str) -> Mapping[str, str]:
    """Return variables that send most programs through a proxy, except to their own loopback."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    local = f"{HERE},localhost,::1"
    return {**dict.fromkeys(names, url), "NO_PROXY": local, "no_proxy": local}
