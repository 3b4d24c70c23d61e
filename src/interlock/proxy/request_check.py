"""Checks of incoming requests: the credential, the path, and the body.

1. Nothing is repaired. A target that is not plainly a known path is refused, so that we and the provider can
   never read it differently.
2. A credential that a program sends is compared and dropped. It never travels on.
3. A body is JSON of bounded depth, and is written anew from what was read: a key that stands there twice
   would otherwise be read one way here and another way there.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from interlock.model import provider
from interlock.model.errors import UsageError
from interlock.model.kinds import Wire
from interlock.proxy.headers import Headers, is_known_field
from interlock.proxy.json_values import parsed, text_at, value_at
from interlock.proxy.order import EndpointOrder
from interlock.proxy.routes import USUAL, Dialect, Route, key_header, route_of

TARGET_CHARACTERS = 4096
_PLAIN = re.compile(r"/[A-Za-z0-9._~:/-]*", re.ASCII)
_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE)
_KEY_HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
_KEY_FIELDS = frozenset({"key", "api_key", "apikey", "access_token", "token"})
_VERSION = re.compile(r"v\d+[a-z]*", re.ASCII)

DEPTH_MOST = 128
"""The deepest nesting of lists and objects. The schema of a tool has a dozen."""
VALUES_MOST = 200_000
"""The most values in one request. A long conversation has some ten thousand."""

MARKS_MOST = 1_000_000
"""The most commas and brackets in a body, also within its texts; they are counted before it is parsed. Ten
million empty lists take seconds and a gigabyte; a million tokens of code have some hundred thousand marks."""


class NotAllowed(Exception):
    """A request that goes nowhere."""

    def __init__(self, status: int, text: str, dialect: Dialect) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.dialect = dialect


@dataclass(frozen=True, slots=True)
class AdmittedRequest:
    """A request that is known to be the attempt's own, and to lead to a model."""

    method: str
    path: str
    query: str
    """Known fields only."""
    route: Route


class RequestCheck:
    """Checks what comes to one endpoint."""

    def __init__(self, order: EndpointOrder, token: str) -> None:
        self._wire = order.wire
        self._token = token
        # Programs for Ollama send no key. Where we add none either, there is nothing for a token to guard.
        self._is_free = order.wire == Wire.OLLAMA and not key_variable(order)

    def admit(self, method: str, target: str, headers: Headers) -> AdmittedRequest:
        """The request if it may pass; raises `NotAllowed`."""
        usual = USUAL[self._wire]
        fields = [(name.lower(), value) for name, value in headers]
        hosts = [value for name, value in fields if name == "host"]
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            raise NotAllowed(
                403, "this is the model proxy of one attempt; the Host header is not its own", usual
            )
        path, _, query = target.partition("?")
        if len(target) > TARGET_CHARACTERS or not target.isascii() or not target.isprintable():
            raise NotAllowed(400, "the model proxy does not accept this path", usual)
        if not self._is_ours(list(_keys(fields, query))):
            raise NotAllowed(401, "this attempt's token is missing or wrong", usual)
        return self._routed(method, path, query)

    def _is_ours(self, keys: list[str]) -> bool:
        if not keys:
            return self._is_free
        return any(secrets.compare_digest(key.encode(), self._token.encode()) for key in keys)

    def _routed(self, method: str, path: str, query: str) -> AdmittedRequest:
        is_plain = _PLAIN.fullmatch(path) and "//" not in path and not {".", ".."} & set(path.split("/"))
        route = route_of(self._wire, method, path) if is_plain else None
        if not route:
            raise NotAllowed(
                404, "the model proxy forwards model calls only, not this path", USUAL[self._wire]
            )
        return AdmittedRequest(method, path, _known(query), route)


def _keys(fields: list[tuple[str, str]], query: str) -> Iterator[str]:
    for name, value in fields:
        if name in _KEY_HEADERS:
            yield value.strip()
        elif name == "authorization":
            yield value.partition(" ")[2].strip()
    yield from (value for name, value in parse_qsl(query) if name.lower() in _KEY_FIELDS)


def _known(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if is_known_field(name)])


def upstream_of(order: EndpointOrder) -> str:
    """The base URL; raises `UsageError` if it is none."""
    url = order.upstream or provider.HOMES[order.wire].upstream
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(
            f"{url!r} is not the address of a model", "write it as https://host or http://host:port/path"
        )
    if parts.username or parts.password:
        raise UsageError(
            f"the address of the model at {parts.hostname} has a password in it",
            "put it into a variable of the environment, and name that as the key",
        )
    return url.rstrip("/")


def joined(upstream: str, path: str, query: str) -> str:
    """Base URLs are written with the version at their end, and without; paths always start with it."""
    base, _, last = upstream.rpartition("/")
    first, _, rest = path.removeprefix("/").partition("/")
    is_versioned = urlsplit(upstream).path and (_VERSION.fullmatch(last) or last in ("openai", "api"))
    if is_versioned and (_VERSION.fullmatch(first) or first == last):
        path = f"/{rest}"
    elif is_versioned and last != "openai":
        upstream = base
    return f"{upstream}{path}" + (f"?{query}" if query else "")


def key_variable(order: EndpointOrder) -> str:
    """The variable that holds the credential for this endpoint; '' if it gets none."""
    return provider.key_variable(order.wire, upstream_of(order), order.key_env)


def credential(
    order: EndpointOrder, dialect: Dialect, environ: Mapping[str, str]
) -> tuple[str, str, str] | None:
    """Header, what stands before the key in it, and the key. None: this server wants none."""
    variable = key_variable(order)
    if not variable:
        return None
    key = environ.get(variable, "").strip()
    if not key or not key.isprintable() or not key.isascii():
        state = "is not set" if not key else "does not hold a valid key"
        raise NotAllowed(401, f"{variable} {state} in the environment Interlock was started from", dialect)
    return (*key_header(order.wire, dialect, variable), key)


def model_of(path: str, body: object) -> str:
    found = re.search(r"/models/([^/:]+)", path)
    return text_at(body, "model") or (found[1] if found else "")


def read_body(asked: AdmittedRequest, body: bytes) -> dict[str, object]:
    """Parse a body; empty for none. Raises `NotAllowed`."""
    if not body or asked.method != "POST":
        return {}
    is_short = sum(body.count(mark) for mark in (b",", b"[", b"{")) <= MARKS_MOST
    value = parsed(body) if is_short else {}
    if not is_short or not isinstance(value, dict) or not _is_bounded(value):
        what = "size" if isinstance(value, dict) else "JSON object"
        raise NotAllowed(400, f"the body is not a {what} that the model proxy takes", asked.route.dialect)
    return value


def written(asked: AdmittedRequest, value: dict[str, object]) -> bytes:
    """A body as it travels; raises `NotAllowed`."""
    try:
        return json.dumps(_with_usage_asked(asked, value), allow_nan=False).encode() if value else b""
    except ValueError as problem:
        raise NotAllowed(
            400, "the body holds NaN or Infinity, which are not JSON", asked.route.dialect
        ) from problem


def _is_bounded(value: object) -> bool:
    """Level by level, for a function that calls itself would meet its end first."""
    level, count = [value], 1
    for _ in range(DEPTH_MOST):
        inner = [
            item.values() if isinstance(item, dict) else item
            for item in level
            if isinstance(item, dict | list)
        ]
        level = [item for items in inner for item in items]
        count += len(level)
        if not level or count > VALUES_MOST:
            return count <= VALUES_MOST
    return False


def _with_usage_asked(asked: AdmittedRequest, value: dict[str, object]) -> dict[str, object]:
    """A stream of chat completions says what it used only if it is asked to."""
    is_stream = asked.route.dialect == Dialect.CHAT and value.get("stream") is True
    if not is_stream or value_at(value, "stream_options", "include_usage") is True:
        return value
    options = value.get("stream_options")
    return {
        **value,
        "stream_options": {**(options if isinstance(options, dict) else {}), "include_usage": True},
    }
