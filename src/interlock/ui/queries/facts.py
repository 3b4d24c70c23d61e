"""A fact of the log as programs get it."""

from interlock.events.record import Recorded
from interlock.model.reason import Reason
from interlock.ui.words.reasons import reason_object


def fact_document(row: Recorded) -> dict[str, object]:
    """A row as programs get it. The fact goes through untouched, and its reason stands beside it in words."""
    import msgspec

    document: dict[str, object] = {
        "seq": row.seq,
        "time": row.time,
        "actor": row.actor,
        "kind": row.kind,
        "fact": msgspec.Raw(row.body.encode()),
        "hash": row.hash,
    }
    reason = getattr(row.fact, "why", None) if '"why":{' in row.body else None
    return document | {"reason": reason_object(reason)} if isinstance(reason, Reason) else document
