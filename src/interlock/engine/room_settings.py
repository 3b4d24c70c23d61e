"""Settings about databases, and about how long files are kept. `Settings` has all the others."""

from dataclasses import dataclass

from interlock.engine.notify_settings import NotifySettings


@dataclass(frozen=True, slots=True)
class RoomSettings(NotifySettings):
    """The server of databases, and the room that records may take."""

    database_server: str = ""
    """The Postgres server on which leased databases are made, with a role that may make databases and roles:
    `postgresql://user:password@host:5432/postgres`. Not in a file of the repository: in your own file, or as
    a variable. No program in a sandbox gets this address."""
    disk_reserve_bytes: int = 2 << 30
    """While the disk of the workspaces has less free space than this, no further agent starts beside the
    first, and `doctor` and `status` warn. 0: no limit."""
    keep_record_days: int = 90
    """Days for which `interlock gc` keeps outputs of agents, transcripts and evidence of tasks that are
    over."""
    record_limit_bytes: int = 10 << 30
    """The size of all of them above which `interlock gc` removes the oldest of tasks that are over, unless
    they are younger than a day. 0: no limit."""
