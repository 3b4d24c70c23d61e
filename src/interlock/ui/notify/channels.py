"""The ways out: a signed webhook, and the services that Apprise knows.

1. A message is sent again after an error of the network or the server, and then given up.
2. A redirect is an error. An address gets only what its user chose it for.
3. The signature covers the time and the body, so a message cannot be changed or sent again later.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.ui.words.notices import Notice, body, title

if TYPE_CHECKING:  # it takes long to import
    import apprise

SEND_SECONDS = 10.0
PAUSES_SECONDS = (1.0, 4.0)
TOO_MANY = 429
INSTALL = "pip install 'interlock[notify]'"
TITLE = "Interlock"

Channel = Callable[["Message"], Awaitable[None]]
"""Sends a message; `OSError` if that failed for good."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a person."""

    project: str
    title: str
    text: str
    notices: tuple[Notice, ...] = ()
    """What it is about, as data for programs."""


def message_of(project: str, notices: Sequence[Notice]) -> Message:
    return Message(project, title(notices), body(notices), tuple(notices))


def signature(key: str, time: str, payload: bytes) -> str:
    """The signature that a receiver computes too: over the time, a dot and the body."""
    digest = hmac.new(key.encode(), f"{time}.".encode() + payload, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def webhook(url: str, key: str, now: Callable[[], float]) -> Channel:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError("`notify_webhook` is no address", "write it like https://example.org/hook")
    if not key:
        raise UsageError(
            "`notify_webhook` needs a key to sign with",
            'name a variable that holds one: notify_webhook_key = "MY_HOOK_KEY"',
        )

    async def send(message: Message) -> None:
        payload = msgspec.json.encode(message)
        for pause in (*PAUSES_SECONDS, 0.0):
            problem, is_final = await _post(url, key, payload, now)
            if not problem:
                return
            if is_final or not pause:
                raise OSError(problem)
            await asyncio.sleep(pause)

    return send


async def _post(url: str, key: str, payload: bytes, now: Callable[[], float]) -> tuple[str, bool]:
    """Post once; why it failed, or '', and if it would fail again."""
    import aiohttp

    time = str(int(now()))
    headers = {
        "Content-Type": "application/json",
        "X-Interlock-Timestamp": time,
        "X-Interlock-Signature": signature(key, time, payload),
    }
    limit = aiohttp.ClientTimeout(total=SEND_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, trust_env=True) as session,
            session.post(url, data=payload, headers=headers, allow_redirects=False) as answer,
        ):
            problem = f"{urlsplit(url).hostname} answered {answer.status}" if answer.status >= 300 else ""
            return problem, 300 <= answer.status < 500 and answer.status != TOO_MANY
    except (aiohttp.ClientError, OSError) as error:
        return f"{urlsplit(url).hostname}: {str(error) or type(error).__name__}", False


def services(urls: Sequence[str]) -> Channel:
    if find_spec("apprise") is None:
        raise EnvironmentProblem("`notify_urls` needs the library apprise", INSTALL)
    import apprise

    known = apprise.Apprise()
    for number, url in enumerate(urls, start=1):
        if not known.add(url):  # the address itself often holds a password
            raise UsageError(
                f"address {number} of `notify_urls` makes no sense", "its form is that of Apprise"
            )

    async def send(message: Message) -> None:
        head = f"{TITLE}: {message.project}: {message.title}"
        if not await _told(known, head, message.text):
            raise OSError("a service of `notify_urls` did not take it")

    return send


async def _told(known: "apprise.Apprise", title: str, text: str) -> bool:
    return bool(await known.async_notify(body=text, title=title))
