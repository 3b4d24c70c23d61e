"""A provider whose quota is back in quiet hours opens after them, and a person may say otherwise."""

import asyncio
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast

from interlock.engine.brakes import found_servers, last_news
from interlock.engine.env import Env
from interlock.engine.resumption import held_until_morning
from interlock.engine.settings import Settings
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Why
from interlock.proxy.brake import ProviderBrake
from tests.events.journal import Journal

HOUR = 3600.0
QUIET = Settings(quiet_hours="22:00-07:00")


def minute(seconds: float) -> float:
    return seconds / 60 % 1440


@dataclass
class Clock:
    """The database's clock, and that of the brake."""

    at: float

    async def now(self) -> float:
        return self.at


def shop(settings: Settings, at: float) -> tuple[Clock, ProviderBrake, Env]:
    clock = Clock(at)
    brake = ProviderBrake(clock=lambda: clock.at)
    held = held_until_morning(settings, minute)
    hands = SimpleNamespace(store=clock, brakes=brake, clean=str, held_seconds=held, reach=None)
    return clock, brake, cast(Env, hands)  # the parts of it that this needs


def use_up(brake: ProviderBrake) -> None:
    """A program says that the quota is used up: the brake closes for a minute."""
    with brake.attend("account") as heard:
        heard.hear(ErrorClass.QUOTA, "quota used up")


def test_it_stays_closed_for_its_work_until_they_are_over() -> None:
    async def live() -> None:
        clock, brake, env = shop(QUIET, 23 * HOUR)
        use_up(brake)
        journal = Journal()
        (closed,) = await last_news(env, journal.state)
        assert closed.until == 31 * HOUR
        assert closed.why.code == Why.QUIET_HOURS if closed.why else False
        journal.tell(closed)
        clock.at += HOUR  # the minute is over, and a call that was under way got through
        with brake.attend("account") as heard:
            heard.ended(None, "")
        for again in await last_news(env, journal.state):
            assert again.until == 31 * HOUR

    asyncio.run(live())


def test_outside_of_them_it_opens_when_the_provider_says() -> None:
    async def live() -> None:
        clock, brake, env = shop(QUIET, 12 * HOUR)
        use_up(brake)
        (closed,) = await last_news(env, Journal().state)
        assert closed.until == clock.at + 60.0

    asyncio.run(live())


def test_a_person_who_wants_work_to_go_on_at_once_opens_it() -> None:
    async def live() -> None:
        _, brake, env = shop(QUIET, 23 * HOUR)
        use_up(brake)
        journal = Journal()
        journal.tell(*await last_news(env, journal.state))
        _, _, same = shop(QUIET, 24 * HOUR)
        assert await found_servers(same, journal.state) == []
        _, _, other = shop(replace(QUIET, resume_in_quiet_hours=True), 24 * HOUR)
        (opened,) = await found_servers(other, journal.state)
        assert opened.until == 0.0

    asyncio.run(live())
