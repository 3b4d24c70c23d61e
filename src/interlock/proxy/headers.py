"""The headers and query fields that travel between a program and its provider. What is not listed does not.

1. A field that selects an account, an organization, a project or a workspace is not listed: the key alone
   decides that. Neither is a field that could change the request on its way (`X-Forwarded-*`,
   `X-HTTP-Method-Override`), nor one that carries a credential.
2. Answers do not tell a program whose account it uses.
3. The lists hold what the protocols need and what the programs that Interlock drives send and read.
"""

from collections.abc import Iterable

Headers = Iterable[tuple[str, str]]

_ASKED = frozenset(
    (
        *("accept", "accept-language", "user-agent", "idempotency-key"),
        *("anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access"),
        *("anthropic-client-platform", "anthropic-client-version", "x-anthropic-additional-protection"),
        *("openai-beta", "openai-intent", "x-goog-api-client", "x-app", "x-initiator", "originator"),
        *("session-id", "session_id", "thread-id", "thread_id", "conversation-id", "conversation_id"),
        *("x-session-id", "x-session-affinity", "x-request-id", "x-client-request-id", "x-openai-subagent"),
        *("x-interaction-id", "x-interaction-type", "x-dashscope-cachecontrol", "x-dashscope-useragent"),
    )
)
_ASKED_STARTS = ("x-stainless-", "x-codex-", "x-claude-code-")
_ANSWERED = frozenset(
    (
        *("content-type", "date", "retry-after", "retry-after-ms", "x-should-retry"),
        *("request-id", "x-request-id", "x-oai-request-id", "x-goog-request-id", "x-client-request-id"),
        *("openai-processing-ms", "openai-version", "openai-model", "x-models-etag", "x-reasoning-included"),
    )
)
_ANSWERED_STARTS = ("anthropic-ratelimit-", "x-ratelimit-", "x-codex-")
_QUERY = frozenset(
    (
        *("alt", "beta", "api-version", "client_version", "limit", "after_id", "before_id"),
        *("pagesize", "pagetoken"),
    )
)


def asked_on(headers: Headers) -> list[tuple[str, str]]:
    """The headers of a request that go to the provider, besides those that the proxy writes itself."""
    return _known(headers, _ASKED, _ASKED_STARTS)


def answered_on(headers: Headers) -> list[tuple[str, str]]:
    """The headers of an answer that go to the program."""
    return _known(headers, _ANSWERED, _ANSWERED_STARTS)


def is_known_field(name: str) -> bool:
    return name.lower() in _QUERY


def _known(headers: Headers, names: frozenset[str], starts: tuple[str, ...]) -> list[tuple[str, str]]:
    headers = list(headers)
    # The headers that `Connection` names are about this connection and never travel on.
    here = {
        part.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for part in value.split(",")
    }
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in here and (name.lower() in names or name.lower().startswith(starts))
    ]
