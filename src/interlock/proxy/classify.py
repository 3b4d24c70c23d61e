"""The error class of a provider's refusal, from its status and its words."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from interlock.model.error_words import of_status
from interlock.model.outcome import ErrorClass
from interlock.proxy.json_values import items_at, parsed, text_at, value_at
from interlock.proxy.order import Allowance, CallError

TEXT_CHARACTERS = 500

_MODEL = re.compile(r"\bmodels?\b|not_found_error|NOT_FOUND", re.IGNORECASE)
"""Words of an answer that has looked for the model."""

_SPAN = re.compile(
    r"(?:(\d{1,4})h)?(?:(\d{1,4})m(?!s))?(?:(\d{1,6}(?:\.\d{1,6})?)s)?(?:(\d{1,6})ms)?", re.ASCII
)


def trouble_of_answer(status: int, headers: Mapping[str, str], body: bytes, now: float) -> CallError:
    """An answer that is not a success, as a trouble. `now` is the time of day, for dates in headers."""
    value = parsed(body)
    if isinstance(value, list):
        value = value_at(value, 0)
    message = text_at(value, "error", "message") or text_at(value, "error") or text_at(value, "message")
    whole = body.decode(errors="replace")
    text = f"HTTP {status}: {message or ' '.join(whole.split())}"[:TEXT_CHARACTERS]
    return CallError(
        of_status(status, whole) or ErrorClass.BAD_REQUEST, text, _retry_after(headers, value, now)
    )


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
