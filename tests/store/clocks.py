"""A database whose clock is wrong, for the real stores: both read the time through the view `clock`."""

import sqlite3

import psycopg

DAY = 86_400.0

_SQLITE = "round((julianday('now') - 2440587.5) * 86400.0, 3)"
_POSTGRES = "extract(epoch FROM clock_timestamp())::double precision"


def set_ahead(url: str, seconds: float) -> None:
    """Let the clock of a database be this far ahead of the machine's (behind: negative; 0: right again)."""
    if url.startswith("postgresql://"):
        with psycopg.connect(url) as server:
            ahead = f"({seconds})::double precision"
            server.execute(f"CREATE OR REPLACE VIEW interlock.clock (now) AS SELECT {_POSTGRES} + {ahead}")
        return
    db = sqlite3.connect(url, timeout=30.0, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP VIEW clock")
        db.execute(f"CREATE VIEW clock (now) AS SELECT {_SQLITE} + ({seconds})")
        db.execute("COMMIT")
    finally:
        db.close()
