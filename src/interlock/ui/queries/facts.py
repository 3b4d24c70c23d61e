"""A fact of the log as programs get it."""

from interlock.events.record import Recorded


def fact_document(row: Recorded) -> dict[str, object]:
    """A row as programs get it; the fact's own text goes through untouched."""
    import msgspec

    return {
        "seq": row.seq,
        "time": row.time,
        "actor": row.actor,
        "kind": row.kind,
        "fact": msgspec.Raw(row.body.encode()),
        "hash": row.hash,
    }
