"""Asking the model: one question, one answer, in bounded time and with a bounded number of tries."""

import http.client
import json
import os
import re
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from .dialects import OLLAMA, OPENAI, ChatDialect, Json, Message, Reply
from .events import ModelFailure, tell

TOKEN_VARIABLE = "INTERLOCK_MODEL_TOKEN"  # noqa: S105 - the name of a variable; its value opens the model proxy
ANSWER_BYTES = 16 * 1024**2
LONGEST_PAUSE_SECONDS = 30.0
SLOW_SECONDS = 60.0
"""A request that took longer than this to fail is not tried again: it would only fail as slowly."""

_PLAIN = {401: "auth", 403: "auth", 402: "quota", 408: "network", 504: "network"}
"""Statuses that say all there is to say, and that another try does not change."""
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_TOO_LONG = re.compile(r"context|too many tokens|prompt is too long", re.IGNORECASE)


@dataclass(frozen=True)
class Server:
    """The model's address, and the limits of our patience with it."""

    url: str
    model: str
    context_tokens: int
    answer_seconds: float
    retries: int
    retry_seconds: float
    """Pause before the first retry; doubled for each further one."""

    @property
    def dialect(self) -> ChatDialect:
        return OPENAI if urlsplit(self.url).path.rstrip("/").endswith("/v1") else OLLAMA

    def ask(self, messages: Sequence[Message], tools: Sequence[Json]) -> Reply:
        """The model's answer; trouble that may pass is waited for."""
        body = self._body(messages, tools)
        for tried in range(self.retries):
            began = time.monotonic()
            try:
                return self._reply(body)
            except ModelFailure as failure:
                if not failure.again or time.monotonic() - began > SLOW_SECONDS:
                    raise
                if failure.wait_seconds > LONGEST_PAUSE_SECONDS:  # another agent may have the task meanwhile
                    raise
                tell("retry", error=failure.error, text=str(failure))
                pause = max(self.retry_seconds * 2**tried, failure.wait_seconds)
                select.select([], [], [], min(LONGEST_PAUSE_SECONDS, pause))
        return self._reply(body)

    def _body(self, messages: Sequence[Message], tools: Sequence[Json]) -> bytes:
        said = [self.dialect.write(message) for message in messages]
        body: Json = {"model": self.model, "messages": said, "stream": False}
        if tools:
            body["tools"] = list(tools)
        if self.dialect is OLLAMA:
            # Ollama silently cuts off input beyond its default of a few thousand tokens.
            body["options"] = {"num_ctx": self.context_tokens}
        return json.dumps(body).encode()

    def _reply(self, body: bytes) -> Reply:
        answer = self._post(body)
        try:
            reply = self.dialect.read(answer)
            text = _THOUGHT.sub("", reply.text).strip()
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ModelFailure("model", f"not an answer: {str(answer)[:200]}", again=True) from None
        if not text and not reply.calls:
            raise ModelFailure("model", "the answer is empty", again=True)
        return Reply(text, reply.calls, reply.usage)

    def _post(self, body: bytes) -> Json:
        status, text, headers = self._exchange(body)
        if status != http.client.OK:
            raise _refusal(status, text, headers)
        try:
            answer = json.loads(text)
        except ValueError:
            raise ModelFailure("model", f"not JSON: {text[:200]!r}", again=True) from None
        if not isinstance(answer, dict) or answer.get("error"):
            raise ModelFailure("model", f"not an answer: {text[:200]}", again=True)
        return answer

    def _exchange(self, body: bytes) -> tuple[int, str, http.client.HTTPMessage]:
        where = urlsplit(self.url)
        kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        link = kind(where.netloc, timeout=self.answer_seconds)
        token = os.environ.get(TOKEN_VARIABLE) or "none"
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        try:
            link.request("POST", where.path.rstrip("/") + self.dialect.path, body, headers)
            response = link.getresponse()
            text = _read(response, time.monotonic() + self.answer_seconds)
        except TimeoutError:
            raise ModelFailure("network", f"no answer within {self.answer_seconds:g} s") from None
        except (OSError, http.client.HTTPException) as problem:
            raise ModelFailure("network", f"{self.url}: {problem!r}", again=True) from None
        finally:
            link.close()
        return response.status, text, response.headers


def _read(response: http.client.HTTPResponse, deadline: float) -> str:
    """All of it, also if it comes drop by drop."""
    body = b""
    while chunk := response.read1(65536):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(body) > ANSWER_BYTES:
            raise ModelFailure("model", f"the answer is longer than {ANSWER_BYTES} bytes")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return body.decode(errors="replace")


def _refusal(status: int, text: str, headers: http.client.HTTPMessage) -> ModelFailure:
    said = f"HTTP {status}: {text[:300]}"
    retry_after = headers.get("Retry-After", "")
    wait_seconds = float(retry_after) if retry_after.isdigit() else 0.0
    if headers.get("X-Should-Retry", "") == "false":
        return ModelFailure("network", said)
    if plain := _PLAIN.get(status):
        return ModelFailure(plain, said)
    if status == 429:
        return ModelFailure("rate-limit", said, again=True, wait_seconds=wait_seconds)
    if "tool" in text.lower():
        # Ollama, llama.cpp and vLLM each say it in their own words, and with different codes.
        return ModelFailure("no-tools", said)
    if _TOO_LONG.search(text):
        return ModelFailure("context-too-long", said)
    if status >= 500:
        return ModelFailure("overloaded", said, again=True, wait_seconds=wait_seconds)
    return ModelFailure("bad-request", said)
