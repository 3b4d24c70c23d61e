"""The class of an error, from its HTTP status and from what programs and providers say of it."""

import re

from interlock.model.outcome import ErrorClass

_STATUS = {
    401: ErrorClass.AUTH,
    402: ErrorClass.QUOTA,
    403: ErrorClass.AUTH,
    408: ErrorClass.NETWORK,
    413: ErrorClass.CONTEXT,
    429: ErrorClass.RATE_LIMIT,
}
_SPOKEN = {
    400: (ErrorClass.CONTEXT, ErrorClass.QUOTA, ErrorClass.AUTH),
    403: (ErrorClass.QUOTA,),
    422: (ErrorClass.CONTEXT,),
    429: (ErrorClass.QUOTA,),
}
"""Statuses whose words say more than the number, and the classes that they may mean."""

_CONTEXT = (
    r"context.{0,20}(length|window|too long)|prompt is too long|maximum context|request_too_large"
    r"|too many (input )?tokens|exceeds? (the )?maximum (number of )?(input )?tokens|input token count"
)
_QUOTA = (
    r"insufficient.quota|exceeded your current quota|credit balance|billing|payment required|out of credits"
)

_ANSWERED = (
    (_CONTEXT, ErrorClass.CONTEXT),
    (rf"{_QUOTA}|usage_limit_reached", ErrorClass.QUOTA),
    (r"invalid_api_key|api.key not valid|authentication_error", ErrorClass.AUTH),
)
"""Words in the answer of a provider. It quotes the request, so only exact words count."""

_SAID = (
    (_CONTEXT, ErrorClass.CONTEXT),
    (rf"{_QUOTA}|quota exceeded|usage.limit", ErrorClass.QUOTA),
    (
        r"without a finish reason|incomplete json|without sending any chunks|non-sse response|empty response",
        ErrorClass.MODEL,
    ),
    (r"rate.?limit|too many requests|\b429\b|resource.exhausted", ErrorClass.RATE_LIMIT),
    (
        r"overloaded|\b529\b|service unavailable|(?-i:UNAVAILABLE)|internal server error|\b50[0234]\b"
        r"|server_error|api_error",
        ErrorClass.OVERLOADED,
    ),
    (
        r"\b40[13]\b|unauthori[sz]ed|authenticat|(invalid|incorrect).{0,10}(api.?)?key|api.key not valid"
        r"|not logged in|login",
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
"""Words in the message of a program: the first that fits; what is more exact comes first."""


def of_status(status: int, text: str = "") -> ErrorClass | None:
    """Return the error class of an HTTP status; the text separates the few that share one."""
    if status < 400:
        return None
    allowed = (ErrorClass.CONTEXT,) if status >= 500 else _SPOKEN.get(status, ())
    spoken = next((error for words, error in _ANSWERED if error in allowed and _says(text, words)), None)
    usual = ErrorClass.OVERLOADED if status >= 500 else ErrorClass.BAD_REQUEST
    return spoken or _STATUS.get(status, usual)


def of_text(text: str) -> ErrorClass | None:
    """Return the error class of an error message; None if it is unknown."""
    return next((error for words, error in _SAID if _says(text, words)), None)


def _says(text: str, words: str) -> bool:
    return re.search(words, text, re.IGNORECASE) is not None
