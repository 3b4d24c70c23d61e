"""A fact of the log as programs get it."""

from interlock.events.record import Recorded
from interlock.model.reason import Reason
from interlock.ui.words.reasons import reason_object

REASONS = {"why": "reason", "agent_why": "agent_reason", "reason": "reason"}
"""Fields of facts, and the names under which their reasons stand beside the fact."""


def fact_document(row: Recorded) -> dict[str, object]:
    """A row as programs get it. The fact goes through untouched, and its reasons stand beside it in words."""
    import msgspec

    document: dict[str, object] = {
        "seq": row.seq,
        "time": row.time,
        "actor": row.actor,
        "kind": row.kind,
        "fact": msgspec.Raw(row.body.encode()),
        "hash": row.hash,
    }
    for name, beside in REASONS.items() if '":{"code"' in row.body else ():
        if isinstance(reason := getattr(row.fact, name, None), Reason):
            document[beside] = reason_object(reason)
    return document
