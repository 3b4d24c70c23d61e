"""The error class of a provider's refusal, from its status and its words."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from interlock.model.outcome import ErrorClass
from interlock.proxy.json_values import items_at, parsed, text_at, value_at
from interlock.proxy.order import Allowance, CallError

TEXT_CHARACTERS = 500

_WORDS = (
    (
        ErrorClass.CONTEXT,
        re.compile(
            r"context[ _](?:length|window)|prompt is too long|request_too_large|too many (?:input )?tokens|"
            r"exceeds? (?:the )?maximum (?:number of )?(?:input )?tokens|maximum context|input token count",
            re.IGNORECASE,
        ),
    ),
    (
        ErrorClass.QUOTA,
        re.compile(
            r"insufficient_quota|credit balance|billing|payment required|out of credits|usage_limit_reached",
            re.IGNORECASE,
        ),
    ),
    (
        ErrorClass.AUTH,
        re.compile(r"api[ _]key not valid|invalid_api_key|authentication_error", re.IGNORECASE),
    ),
    (ErrorClass.RATE_LIMIT, re.compile(r"rate_limit|RESOURCE_EXHAUSTED", re.IGNORECASE)),
    (ErrorClass.OVERLOADED, re.compile(r"overloaded|UNAVAILABLE|server_error|api_error", re.IGNORECASE)),
)
_STATUSES = {
    401: ErrorClass.AUTH,
    402: ErrorClass.QUOTA,
    403: ErrorClass.AUTH,
    408: ErrorClass.NETWORK,
    429: ErrorClass.RATE_LIMIT,
}
_SPOKEN = {
    400: (ErrorClass.CONTEXT, ErrorClass.QUOTA, ErrorClass.AUTH),
    403: (ErrorClass.QUOTA,),
    413: (ErrorClass.CONTEXT,),
    429: (ErrorClass.QUOTA,),
}
"""Statuses whose words say more than the number, and the classes that they may mean."""

_MODEL = re.compile(r"\bmodels?\b|not_found_error|NOT_FOUND", re.IGNORECASE)
"""Words of an answer that has looked for the model."""

_SPAN = re.compile(
    r"(?:(\d{1,4})h)?(?:(\d{1,4})m(?!s))?(?:(\d{1,6}(?:\.\d{1,6})?)s)?(?:(\d{1,6})ms)?", re.ASCII
)


def error_of_status(status: int, text: str) -> ErrorClass:
    """The class of an answer that is not a success."""
    allowed = _SPOKEN.get(status, ())
    spoken = next((error for error, words in _WORDS if error in allowed and words.search(text)), None)
    return (
        spoken
        or _STATUSES.get(status)
        or (ErrorClass.OVERLOADED if status >= 500 else ErrorClass.BAD_REQUEST)
    )


def error_of_words(text: str) -> ErrorClass:
    """The class of an error in the middle of a stream, which has no status."""
    return next((error for error, words in _WORDS if words.search(text)), ErrorClass.MODEL)


def trouble_of_answer(status: int, headers: Mapping[str, str], body: bytes, now: float) -> CallError:
    """An answer that is not a success, as a trouble. `now` is the time of day, for dates in headers."""
    value = parsed(body)
    if isinstance(value, list):
        value = value_at(value, 0)
    message = text_at(value, "error", "message") or text_at(value, "error") or text_at(value, "message")
    whole = body.decode(errors="replace")
    text = f"HTTP {status}: {message or ' '.join(whole.split())}"[:TEXT_CHARACTERS]
    return CallError(error_of_status(status, whole), text, _retry_after(headers, value, now))


def not_found(said: CallError, model: str, host: str, path: str) -> CallError:
    """A 404: the server has no such model, or it is not a server of models. Neither mends itself."""
    if model and _MODEL.search(said.text):
        return CallError(ErrorClass.MISSING, f"model `{model}` not found at {host}")
    return CallError(ErrorClass.MISSING, f"there is no {path} at {host}; check the agent's url ({said.text})")


def _retry_after(headers: Mapping[str, str], body: object, now: float) -> float:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    details = [text_at(item, "retryDelay").removesuffix("s") for item in items_at(body, "error", "details")]
    return _number(said) or _until(said, now) or max(map(_number, details), default=0.0)


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text.strip(), re.ASCII) else 0.0


def _until(date: str, now: float) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0


def allowance_of(headers: Mapping[str, str], now: float) -> Allowance | None:
    """Return the calls that are left, where a provider counts them in its answers."""
    for limit, remaining, reset in _COUNTED:
        most, left = headers.get(limit, ""), headers.get(remaining, "")
        if most.isdecimal() and left.isdecimal() and len(most + left) < 20:
            return Allowance(int(most), int(left), _reset(headers.get(reset, ""), now))
    return None


_COUNTED = (
    tuple(f"anthropic-ratelimit-requests-{what}" for what in ("limit", "remaining", "reset")),
    tuple(f"x-ratelimit-{what}-requests" for what in ("limit", "remaining", "reset")),
)


def _reset(text: str, now: float) -> float:
    """A date of RFC 3339, or a span like `6m0s`."""
    found = _SPAN.fullmatch(text.strip())
    if text and found:
        hours, minutes, seconds, milliseconds = (float(part or 0) for part in found.groups())
        return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0
