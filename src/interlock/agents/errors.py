"""The class of an error, from what programs and providers say of it."""

import re
from collections.abc import Sequence

from interlock.model.outcome import ErrorClass
from interlock.model.session import Event, EventKind

_STATUS = {
    400: ErrorClass.BAD_REQUEST,
    401: ErrorClass.AUTH,
    402: ErrorClass.QUOTA,
    403: ErrorClass.AUTH,
    404: ErrorClass.BAD_REQUEST,
    408: ErrorClass.NETWORK,
    413: ErrorClass.CONTEXT,
    422: ErrorClass.BAD_REQUEST,
    429: ErrorClass.RATE_LIMIT,
    529: ErrorClass.OVERLOADED,
}

_SAID = (
    (r"context.{0,20}(length|window|too long)|prompt is too long|maximum context", ErrorClass.CONTEXT),
    (
        r"insufficient.quota|quota exceeded|exceeded your current quota|credit balance|billing",
        ErrorClass.QUOTA,
    ),
    (r"usage limit|out of credits", ErrorClass.QUOTA),
    (
        r"without a finish reason|incomplete json|without sending any chunks|non-sse response|empty response",
        ErrorClass.MODEL,
    ),
    (r"rate.?limit|too many requests|\b429\b|resource.exhausted", ErrorClass.RATE_LIMIT),
    (r"overloaded|\b529\b|service unavailable|internal server error|\b50[0234]\b", ErrorClass.OVERLOADED),
    (
        r"\b40[13]\b|unauthori[sz]ed|authenticat|(invalid|incorrect).{0,10}(api.?)?key|not logged in|login",
        ErrorClass.AUTH,
    ),
    (
        r"econnre|enotfound|etimedout|socket|connect(ion)?\b.{0,20}(error|refused|reset|closed|lost|failed)"
        r"|could not connect|unable to connect|unexpected eof|other side closed|error: terminated"
        r"|fetch failed|stream (disconnected|closed)|network|timed? ?out|error sending request",
        ErrorClass.NETWORK,
    ),
    (r"\b400\b|bad request|invalid.request", ErrorClass.BAD_REQUEST),
)
"""The first that fits; what is more exact comes first."""


def of_status(status: int, text: str = "") -> ErrorClass | None:
    """Return the error class of an HTTP status; the text separates the few that share one."""
    if status < 400:
        return None
    said = of_text(text)
    if said in (ErrorClass.QUOTA, ErrorClass.CONTEXT):
        return said
    return _STATUS.get(status, ErrorClass.OVERLOADED if status >= 500 else ErrorClass.BAD_REQUEST)


def of_text(text: str) -> ErrorClass | None:
    """Return the error class of an error message; None if it is unknown."""
    return next((error for words, error in _SAID if re.search(words, text, re.IGNORECASE)), None)


def early_error(line: str) -> Sequence[Event]:
    """Read a line that is no JSON: an error before the session began."""
    is_error = line.startswith("Error: ")
    return [Event(EventKind.ERROR, line.strip(), error=of_text(line))] if is_error else []
