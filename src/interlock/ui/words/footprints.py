"""Footprints in words: expected paths, requests for more, and what was edited."""

from interlock.events.asked import ScopeRequest
from interlock.learn.drift import Drift
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.words.reasons import reason_text

NAMED = 3
"""Surprises that are named in a line of their task."""


def request_line(asked: ScopeRequest) -> str:
    verdict = {True: "granted", False: "refused", None: "not answered"}[asked.granted]
    answer = f": {reason_text(asked.answer)}" if asked.answer else ""
    why = f" ({one_line(inert(asked.why))})" if asked.why else ""
    return f"  attempt {asked.attempt} asked for {one_line(', '.join(asked.paths))}{why}: {verdict}{answer}"


def drift_line(drift: Drift) -> str:
    also = ", ".join(map(one_line, drift.surprises[:NAMED])) + (
        ", ..." if len(drift.surprises) > NAMED else ""
    )
    foreseen = f"{drift.foreseen} of {counted(drift.touched, 'edited file')} expected"
    edited = f"{drift.edited} of {counted(drift.expected, 'expected path')} edited"
    return f"{foreseen}, {edited}" + (f"; also {also}" if also else "")
