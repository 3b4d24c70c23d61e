"""What attempts and checks get besides files: databases, services beside checks, commands after attempts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.engine.identity import is_dead, new_incarnation
from interlock.engine.settings import Settings
from interlock.git.lineage import ensure_lineage
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.leases import Leasable
from interlock.plan import Graph
from interlock.store import no_driver

if TYPE_CHECKING:
    from interlock.store.databases import Databases


@dataclass(slots=True)
class GraphCommands:
    """Commands of the graph that belong to no task. They may change during a run."""

    services: Mapping[str, str] = field(default_factory=dict)
    teardown: tuple[str, ...] = ()

    def take(self, graph: Graph) -> None:
        self.services, self.teardown = graph.services, graph.teardown

    @property
    def digest(self) -> str:
        """Words that decide how checks end."""
        return "\0".join(f"{name}={command}" for name, command in sorted(self.services.items()))


def databases_of(settings: Settings, place: Place) -> "Databases | None":
    """Return what makes databases on the user's server; None: no server is set."""
    if not settings.database_server:
        return None
    try:
        from interlock.store.databases import Databases  # noqa: PLC0415 - the driver is an extra, and slow
    except ImportError as error:
        raise no_driver(error) from error
    return Databases(settings.database_server, ensure_lineage(place.state), new_incarnation(), is_dead)


async def drop_left(databases: "Databases | None", tell: Callable[[str], None]) -> None:
    """Drop the databases that a killed run left. A server that does not answer is no reason to stop."""
    try:
        left = await databases.drop_left() if databases else []
    except EnvironmentProblem as problem:
        tell(f"databases that a killed run may have left were not looked for: {problem}")
    else:
        if left:
            tell(f"dropped {len(left)} databases that a killed run left")


def refuse_without_server(leases: Iterable[Leasable], settings: Settings) -> None:
    """Refuse a graph with databases before the first agent waits for one in vain."""
    wanted = [each.name for each in leases if each.template]
    if wanted and not settings.database_server:
        raise UsageError(
            f"the lease `{wanted[0]}` is a copy of a database, and no server is set",
            "set `database_server` in your own settings file (`interlock config path` names it, last), or "
            "INTERLOCK_DATABASE_SERVER",
        )
