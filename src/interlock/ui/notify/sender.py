"""Sends notices beside a run: paced, in order, and without ever holding the run up."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from interlock.engine.notify_settings import NotifySettings
from interlock.engine.resumption import minute_of_day
from interlock.model.quiet_hours import quiet_hours
from interlock.model.shown import shown
from interlock.ui.notify.channels import Channel, Message, message_of, services, webhook
from interlock.ui.notify.pacing import Pacing
from interlock.ui.words.notices import Notice

LAST_SECONDS = 20.0
"""Time for the last message when a run has ended."""
Clean = Callable[[str], str]
Tell = Callable[[str], None]


def channels(settings: NotifySettings, environ: Mapping[str, str]) -> tuple[Channel, ...]:
    """The ways out that the settings name; an error about one that makes no sense."""
    found = []
    if settings.notify_webhook:
        key = environ.get(settings.notify_webhook_key, "")
        found.append(webhook(settings.notify_webhook, key, time.time))
    if settings.notify_urls:
        found.append(services(settings.notify_urls))
    return tuple(found)


async def send_all(ways: Sequence[Channel], message: Message) -> list[str]:
    """Send it on every way; why that failed on some."""
    ended = await asyncio.gather(*(way(message) for way in ways), return_exceptions=True)
    return [shown(str(problem)) for problem in ended if isinstance(problem, Exception)]


class Sender:
    """The messages of one run."""

    def __init__(self, project: str, ways: Sequence[Channel], settings: NotifySettings, tell: Tell) -> None:
        self._project = project
        self._ways = ways
        self._kinds = frozenset(settings.notify_on)
        self._pacing = Pacing(settings.notify_every_seconds, quiet_hours(settings.quiet_hours), minute_of_day)
        self._tell = tell
        self._news = asyncio.Event()
        self._is_over = False

    def hear(self, notice: Notice) -> None:
        if self._ways and notice.kind in self._kinds:
            self._pacing.add(notice)
            self._news.set()

    def stop(self) -> None:
        """End `send`, after a message that is on its way."""
        self._is_over = True
        self._news.set()

    async def send(self) -> None:
        """Send what is due, until it is stopped."""
        while True:
            self._news.clear()
            await self._send(self._pacing.take(time.time()))
            if self._is_over:
                return
            try:
                async with asyncio.timeout(self._pacing.wait_seconds(time.time())):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def send_last(self) -> None:
        try:
            async with asyncio.timeout(LAST_SECONDS):
                await self._send(self._pacing.take_last(time.time()))
        except TimeoutError:
            self._tell("the last notification was not sent: it took too long")

    async def _send(self, notices: Sequence[Notice]) -> None:
        if not notices:
            return
        for failure in await send_all(self._ways, message_of(self._project, notices)):
            self._tell(f"a notification was not sent: {failure}")


@asynccontextmanager
async def sending(
    project: str, settings: NotifySettings, environ: Mapping[str, str], clean: Clean, tell: Tell
) -> AsyncIterator[Callable[[Notice], None]]:
    """Yield the function that takes notices of a run. Secrets are taken out of what leaves the machine."""
    sender = Sender(project, channels(settings, environ), settings, tell)
    sends = asyncio.create_task(sender.send())
    try:
        yield lambda notice: sender.hear(replace(notice, text=clean(notice.text)))
    finally:
        sender.stop()
        await asyncio.wait([sends], timeout=LAST_SECONDS)
        sends.cancel()
        await sender.send_last()
