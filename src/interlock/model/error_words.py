"""The class of an error, from its HTTP status and from what programs and providers say of it."""

import re
from collections.abc import Iterable

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
_NAMED = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_denied": 403,
    "permission_error": 403,
    "not_found_error": 404,
    "context_length_exceeded": 413,
    "request_too_large": 413,
    "failed_precondition": 400,
    "invalid_argument": 400,
    "invalid_request_error": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "too_many_requests": 429,
    "api_error": 500,
    "internal": 500,
    "internal_server_error": 500,
    "server_error": 500,
    "service_unavailable": 503,
    "unavailable": 503,
    "deadline_exceeded": 504,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Names of errors in the answers of providers, and the status that an answer of such an error has."""

_CONTEXT = (
    r"context.{0,20}(length|window|too long)|prompt is too long|maximum context|request_too_large"
    r"|too many (input )?tokens|exceeds? (the )?maximum (number of )?(input )?tokens|input token count"
)
_QUOTA = (
    r"insufficient.quota|exceeded your current quota|credit balance|billing|payment required|out of credits"
)
_MANY = r"rate.?limit|too many requests"
_BUSY = r"overloaded|service unavailable|internal server error"

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
    (rf"{_MANY}|\b429\b|resource.exhausted", ErrorClass.RATE_LIMIT),
    (
        rf"{_BUSY}|\b529\b|(?-i:UNAVAILABLE)|\b50[0234]\b|server_error|api_error",
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


def of_names(names: Iterable[str], text: str) -> ErrorClass | None:
    """Return the class of an error within an answer: by its type or code, and only if none is known by exact
    words of its message, which quotes the request; None if it is unknown."""
    for name in names:
        if status := _NAMED.get(name.lower()) or (int(name) if re.fullmatch("[45][0-9]{2}", name) else 0):
            return of_status(status, text)
    exact = (*_ANSWERED, (_MANY, ErrorClass.RATE_LIMIT), (_BUSY, ErrorClass.OVERLOADED))
    return next((error for words, error in exact if _says(text, words)), None)


def of_text(text: str) -> ErrorClass | None:
    """Return the error class of an error message; None if it is unknown."""
    return next((error for words, error in _SAID if _says(text, words)), None)


def _says(text: str, words: str) -> bool:
    return re.search(words, text, re.IGNORECASE) is not None
