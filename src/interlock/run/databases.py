"""Databases of one program: made for it, reached through forwarded ports, dropped afterwards."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.model.errors import EnvironmentProblem
from interlock.model.leases import template_of
from interlock.model.sandbox import ForwardedPort
from interlock.proxy.databases import Target, database_socket
from interlock.run.network import Way

if TYPE_CHECKING:
    from interlock.store.databases import Databases  # it imports the driver, which is an extra

HERE = "127.0.0.1"
NO_SERVER = "set `database_server` in your own settings file, or INTERLOCK_DATABASE_SERVER"


@asynccontextmanager
async def to_databases(
    server: "Databases | None", variables: Mapping[str, str], sockets: Path, ports: Callable[[int], int]
) -> AsyncIterator[Way]:
    """Make a database for each variable that has a leased one. `ports`: that of the first, the second ..."""
    wanted = {name: template for name, value in variables.items() if (template := template_of(value))}
    forwarded: list[ForwardedPort] = []
    env: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        for number, (name, template) in enumerate(wanted.items()):
            if server is None:
                raise EnvironmentProblem(f"there is no server to copy the database {template} on", NO_SERVER)
            made = await stack.enter_async_context(server.lend(template))
            place = server.server
            target = Target(made.name, place.host, place.port, place.socket)
            socket = await stack.enter_async_context(database_socket(sockets, target))
            port = ports(number)
            forwarded.append(ForwardedPort(port, socket))
            env[name] = f"postgresql://{made.name}:{made.password}@{HERE}:{port}/{made.name}"
        yield Way(forwarded_ports=tuple(forwarded), env=env)
