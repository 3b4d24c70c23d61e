"""The verdict of a call's end on its provider. Pure."""

import re

from interlock.model.outcome import ErrorClass
from interlock.proxy.brake.throttle import CallVerdict, Ending
from interlock.proxy.order import CallError, CallOutcome

FAR_SECONDS = 900.0
"""A longer wait than this means a used-up quota: no caller is only too fast by so much."""
CROWDED_STATUSES = frozenset({200, 503, 529})
"""With an overload: said at once, or in the middle of an answer. Other errors of a server are its own."""
OVERLOADED = 529
"""The status of an overload that a program reports."""
_PER_TIME = re.compile(
    r"\bper[ -](?:second|minute|min|hour|day)\b|/(?:min|minute|day)\b|\b[RT]P[MDS]\b|too fast", re.IGNORECASE
)
_AT_ONCE = re.compile(r"concurren|simultaneous|in parallel|at once|in progress", re.IGNORECASE)


def ending_of(outcome: CallOutcome) -> Ending:
    """A call's end as the brake sees it."""
    trouble = outcome.trouble
    if trouble is None:
        answer = CallVerdict.GOOD if 200 <= outcome.status < 300 else CallVerdict.NOTHING
        return Ending(answer, tokens=outcome.usage.output_tokens or 0, allowance=outcome.allowance)
    answer = _answer(outcome.status, trouble)
    return Ending(answer, trouble.text, trouble.retry_after_seconds, allowance=outcome.allowance)


def ending_told(error: ErrorClass | None, text: str) -> Ending:
    """Judge an end of which only the program's word is known, of a call or of the whole attempt."""
    if error is None:
        return Ending(CallVerdict.GOOD)
    return Ending(_answer(OVERLOADED, CallError(error, text)), text)


def _answer(status: int, trouble: CallError) -> CallVerdict:
    if trouble.is_down:
        return CallVerdict.DOWN
    if trouble.error is ErrorClass.QUOTA:
        return CallVerdict.QUOTA
    if trouble.error is ErrorClass.RATE_LIMIT:
        return _refusal(trouble)
    if trouble.error is ErrorClass.OVERLOADED and status in CROWDED_STATUSES:
        return CallVerdict.CROWDED
    return (
        CallVerdict.BROKEN
        if trouble.error in (ErrorClass.OVERLOADED, ErrorClass.NETWORK)
        else CallVerdict.NOTHING
    )


def _refusal(trouble: CallError) -> CallVerdict:
    if trouble.retry_after_seconds > FAR_SECONDS:
        return CallVerdict.QUOTA
    is_per_time = _PER_TIME.search(trouble.text) and not _AT_ONCE.search(trouble.text)
    return CallVerdict.FAST if is_per_time else CallVerdict.CROWDED
