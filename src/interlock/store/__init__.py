"""The log of facts, the claims and the snapshot, on SQLite or Postgres. The only place that speaks SQL."""

from typing import TYPE_CHECKING, Any

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.store.protocol import Store

if TYPE_CHECKING:
    from interlock.store.postgres import PostgresStore
    from interlock.store.sqlite import SqliteStore

__all__ = ["PostgresStore", "SqliteStore", "Store", "open_store"]


def open_store(url: str, project: str) -> Store:
    """The log at a path (one project's), or the project's log at a Postgres URL. Connects when first used."""
    if url.startswith(("postgres://", "postgresql://")):
        return _postgres()(url, project)
    if "://" in url:
        # Taken as a path, a slip in the scheme would begin an empty log in a folder of that name. The rest of
        # the address may hold a password.
        raise UsageError(
            f"`store` cannot be a {url.partition('://')[0]}:// address",
            "write postgresql://..., or a path for SQLite",
        )
    return _sqlite()(url)


def __getattr__(name: str) -> Any:
    """The implementations by name, as late as possible."""
    if name == "PostgresStore":
        return _postgres()
    if name == "SqliteStore":
        return _sqlite()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _sqlite() -> type["SqliteStore"]:
    from interlock.store.sqlite import SqliteStore  # noqa: PLC0415 - a Postgres user does not need it

    return SqliteStore


def _postgres() -> type["PostgresStore"]:
    try:
        from interlock.store.postgres import PostgresStore  # noqa: PLC0415 - the driver is an extra, and slow
    except ImportError as error:
        raise EnvironmentProblem(
            f"the Postgres driver is missing: {error}", "run `pip install 'interlock[postgres]'`"
        ) from error
    return PostgresStore
