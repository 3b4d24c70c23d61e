"""The languages of model providers: which paths exist, where the credential goes, what an error looks like.

1. A path that is not in `ROUTES` does not exist. A program reaches models, and not the rest of the account.
2. The shape of an answer follows from the path, not from the wire: one server may speak several languages.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from interlock.model.kinds import Wire


class Dialect(StrEnum):
    """The shape of requests and answers."""

    MESSAGES = "messages"
    CHAT = "chat"
    RESPONSES = "responses"
    GEMINI = "gemini"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that can be asked of a provider."""

    methods: frozenset[str]
    path: re.Pattern[str]
    dialect: Dialect
    generates: bool
    """True if it costs tokens."""


_KEY_HEADERS = {
    Wire.ANTHROPIC: ("x-api-key", ""),
    Wire.OPENAI: ("Authorization", "Bearer "),
    Wire.GEMINI: ("x-goog-api-key", ""),
    Wire.OLLAMA: ("Authorization", "Bearer "),
}


def _post(path: str, dialect: Dialect) -> Route:
    return Route(frozenset({"POST"}), re.compile(path, re.ASCII), dialect, generates=True)


def _free(methods: str, path: str, dialect: Dialect) -> Route:
    return Route(frozenset(methods.split()), re.compile(path, re.ASCII), dialect, generates=False)


_NAME = r"[\w.:-]{1,128}"
_MESSAGES = (
    _post("/v1/messages", Dialect.MESSAGES),
    _free("POST", "/v1/messages/count_tokens", Dialect.MESSAGES),
)
_CHAT = (
    _post("/v1/chat/completions", Dialect.CHAT),
    _post("/v1/completions", Dialect.CHAT),
    _post("/v1/embeddings", Dialect.CHAT),
    _post("/v1/responses", Dialect.RESPONSES),
    _post("/v1/responses/compact", Dialect.RESPONSES),
    _free("POST", "/v1/responses/input_tokens", Dialect.RESPONSES),
)
_MODELS = rf"/v1/models(?:/{_NAME})?"
_GEMINI = r"/v1(?:beta|alpha)?"
_GEMINI_MODEL = rf"{_GEMINI}/(?:models|tunedModels)/[\w.-]{{1,128}}"
ROUTES: Mapping[Wire, tuple[Route, ...]] = {
    Wire.ANTHROPIC: (*_MESSAGES, _free("GET", _MODELS, Dialect.MESSAGES)),
    Wire.OPENAI: (*_CHAT, _free("GET", _MODELS, Dialect.CHAT)),
    Wire.GEMINI: (
        _post(rf"{_GEMINI_MODEL}:(?:generateContent|streamGenerateContent)", Dialect.GEMINI),
        _post(rf"{_GEMINI_MODEL}:(?:embedContent|batchEmbedContents)", Dialect.GEMINI),
        _free("POST", rf"{_GEMINI_MODEL}:countTokens", Dialect.GEMINI),
        _free("GET", rf"{_GEMINI}/models", Dialect.GEMINI),
        _free("GET", _GEMINI_MODEL, Dialect.GEMINI),
    ),
    Wire.OLLAMA: (
        _post("/api/(?:chat|generate|embed|embeddings)", Dialect.OLLAMA),
        _free("GET HEAD", "/api/(?:tags|version|ps)", Dialect.OLLAMA),
        _free("POST", "/api/show", Dialect.OLLAMA),
        _free("GET HEAD", "/", Dialect.OLLAMA),
        *_MESSAGES,
        *_CHAT,
        _free("GET", _MODELS, Dialect.CHAT),
    ),
}
USUAL = {
    Wire.ANTHROPIC: Dialect.MESSAGES,
    Wire.OPENAI: Dialect.CHAT,
    Wire.GEMINI: Dialect.GEMINI,
    Wire.OLLAMA: Dialect.OLLAMA,
}
"""The form of errors for a program before its request is read."""


def route_of(wire: Wire, method: str, path: str) -> Route | None:
    return next(
        (route for route in ROUTES[wire] if method in route.methods and route.path.fullmatch(path)), None
    )


def key_header(wire: Wire, dialect: Dialect, variable: str) -> tuple[str, str]:
    """The header that carries the credential, and what stands before it there."""
    if wire == Wire.ANTHROPIC and variable.upper().endswith("AUTH_TOKEN"):
        return "Authorization", "Bearer "
    if wire == Wire.OLLAMA and dialect == Dialect.MESSAGES:
        return "x-api-key", ""
    return _KEY_HEADERS[wire]


_ANTHROPIC_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}
_OPENAI_KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "unknown_url"),
    429: ("rate_limit_exceeded", "rate_limit_exceeded"),
    502: ("server_error", "bad_gateway"),
    504: ("server_error", "timeout"),
}
_GEMINI_KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error_body(dialect: Dialect, status: int, text: str) -> bytes:
    """An error as the provider itself would put it, so that programs take it for what it is."""
    value: dict[str, object]
    if dialect == Dialect.MESSAGES:
        value = {
            "type": "error",
            "error": {"type": _ANTHROPIC_KINDS.get(status, "api_error"), "message": text},
        }
    elif dialect == Dialect.GEMINI:
        value = {"error": {"code": status, "message": text, "status": _GEMINI_KINDS.get(status, "INTERNAL")}}
    elif dialect == Dialect.OLLAMA:
        value = {"error": text}
    else:
        kind, code = _OPENAI_KINDS.get(status, ("invalid_request_error", "invalid_request"))
        value = {"error": {"message": text, "type": kind, "param": None, "code": code}}
    return json.dumps(value).encode()
