"""The log of facts, the claims and the snapshot, on SQLite or Postgres. The only place that speaks SQL."""

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.store.protocol import Store

__all__ = ["Store", "no_driver", "open_store"]


def open_store(url: str, project: str) -> Store:
    """The log at a path (one project's), or the project's log at a Postgres URL. Connects when first used."""
    if url.startswith(("postgres://", "postgresql://")):
        return _postgres(url, project)
    if "://" in url:
        # Taken as a path, a slip in the scheme would begin an empty log in a folder of that name. The rest of
        # the address may hold a password.
        raise UsageError(
            f"`store` cannot be a {url.partition('://')[0]}:// address",
            "write postgresql://..., or a path for SQLite",
        )
    from interlock.store.sqlite import SqliteStore  # noqa: PLC0415 - a Postgres user does not need it

    return SqliteStore(url)


def _postgres(url: str, project: str) -> Store:
    try:
        from interlock.store.postgres import PostgresStore  # noqa: PLC0415 - the driver is an extra, and slow
    except ImportError as error:
        raise no_driver(error) from error
    return PostgresStore(url, project)


def no_driver(error: ImportError) -> EnvironmentProblem:
    """Build the error of an installation without the extra for Postgres."""
    return EnvironmentProblem(
        f"the Postgres driver is missing: {error}", "run `pip install 'interlock[postgres]'`"
    )
