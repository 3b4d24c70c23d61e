"""The brake in front of real calls: a real proxy, and a server that turns calls away (K7, W11)."""

import asyncio
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web

from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why
from interlock.proxy.brake import CallVerdict, ProviderBrake, ServerCheck
from interlock.proxy.json_values import text_at
from tests.proxy.stage import CHAT, Line, Setting, upstream

GOOD = {
    "choices": [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 5},
}


@dataclass
class Provider:
    """Takes `places` calls at once, and counts."""

    places: int = 4
    call_seconds: float = 0.01
    refusal: dict[str, str] = field(default_factory=dict)
    under_way: int = 0
    most: int = 0
    statuses: list[int] = field(default_factory=list)
    planned: list[int] = field(default_factory=list)
    text: str = "too many at once"
    full: asyncio.Event = field(default_factory=asyncio.Event)
    """Two calls were under way at once."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        status = self.planned.pop(0) if self.planned else 200 if self.under_way < self.places else 429
        self.statuses.append(status)
        if status != 200:
            return web.json_response({"error": {"message": self.text}}, status=status, headers=self.refusal)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way == 2:
            self.full.set()
        try:
            await asyncio.sleep(self.call_seconds)
        finally:
            self.under_way -= 1
        return web.json_response(GOOD)


def brake(hold_seconds: float = 10.0) -> ProviderBrake:
    return ProviderBrake(hold_seconds)


async def ask(line: Line, times: int) -> list[int]:
    return [(await line.ask(CHAT)).status for _ in range(times)]


@pytest.mark.slow
def test_programs_that_ask_at_the_same_time_never_hear_that_it_was_too_often(setting: Setting) -> None:
    async def story() -> list[int]:
        provider = Provider(places=3)
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(upstream(provider.answer))
            gate = brake()
            lines = []
            for number in range(8):
                own = replace(setting, gate=gate, folder=setting.folder / str(number))
                lines.append(await stack.enter_async_context(own.line(CHAT.wire, f"{url}/v1")))
            heard = [
                status for got in await asyncio.gather(*(ask(line, 15) for line in lines)) for status in got
            ]
        assert heard == [200] * 120
        assert provider.statuses.count(200) == 120
        return provider.statuses

    statuses = asyncio.run(story())
    assert 0 < statuses.count(429) <= 12


@pytest.mark.slow
def test_a_refusal_is_survived_without_the_programs_knowledge_and_the_transcript_has_both(
    setting: Setting,
) -> None:
    async def story() -> None:
        provider = Provider(planned=[429, 529])
        async with (
            upstream(provider.answer) as url,
            replace(setting, gate=brake()).line(CHAT.wire, f"{url}/v1") as line,
        ):
            assert await ask(line, 1) == [200]
            notes = [(entry["status"], entry["note"]) for entry in line.entries()]
            assert notes == [
                (429, "turned away, and made again"),
                (529, "turned away, and made again"),
                (200, ""),
            ]
            assert line.endpoint.last_error is None

    asyncio.run(story())


@pytest.mark.slow
def test_a_program_hears_the_providers_own_words_when_it_is_turned_away_for_good(setting: Setting) -> None:
    async def story() -> None:
        provider = Provider(places=0, refusal={"X-Request-ID": "r1"})
        async with (
            upstream(provider.answer) as url,
            replace(setting, gate=brake()).line(CHAT.wire, f"{url}/v1") as line,
        ):
            heard = await line.ask(CHAT)
            assert (heard.status, heard.headers["X-Request-ID"]) == (429, "r1")
            assert text_at(heard.json, "error", "message") == "too many at once"
            assert len(provider.statuses) == 4

    asyncio.run(story())


def test_a_used_up_quota_is_found_out_once_and_told_to_all_without_asking_again(setting: Setting) -> None:
    """FIELD 5: nobody else runs into the same wall."""

    async def story() -> None:
        provider = Provider(places=0, refusal={"Retry-After": "7200"}, text="insufficient_quota")
        gate = brake()
        async with upstream(provider.answer) as url:
            for number in range(3):
                own = replace(setting, gate=gate, folder=setting.folder / str(number))
                async with own.line(CHAT.wire, f"{url}/v1") as line:
                    heard = await line.ask(CHAT)
                    assert heard.status == 429
                    assert 7190 < float(heard.headers["Retry-After"]) <= 7200
                    assert line.endpoint.last_error
                    assert line.endpoint.last_error.error is ErrorClass.QUOTA
            (news,) = await gate.wait()
            assert 7190 < news.closed_seconds <= 7200
        assert provider.statuses == [429]

    asyncio.run(story())


def test_a_server_that_is_down_is_found_out_once_and_no_program_waits_for_it(setting: Setting) -> None:
    """A7: who is at the beginning gives up at once, as another agent may have the task."""

    async def story() -> None:
        async with upstream(Provider().answer) as url:
            pass  # now nothing listens there
        gate = brake(hold_seconds=60.0)
        for number in range(2):
            own = replace(setting, gate=gate, folder=setting.folder / str(number))
            async with own.line(CHAT.wire, f"{url}/v1") as line:
                heard = await line.ask(CHAT)
                assert heard.headers["X-Should-Retry"] == "false"
                assert line.endpoint.last_error
                assert line.endpoint.last_error.error is ErrorClass.NETWORK
                assert "connection refused" in line.endpoint.last_error.text
        (news,) = await gate.wait()
        assert news.until > 0

    asyncio.run(story())


def test_a_program_that_has_had_answers_waits_for_its_server(setting: Setting) -> None:
    async def story() -> None:
        gate = brake(hold_seconds=60.0)
        async with AsyncExitStack() as server:
            url = await server.enter_async_context(upstream(Provider().answer))
            async with replace(setting, gate=gate).line(CHAT.wire, f"{url}/v1") as line:
                assert await ask(line, 1) == [200]
                await server.aclose()
                assert "X-Should-Retry" not in (await line.ask(CHAT)).headers

    asyncio.run(story())


def test_servers_are_tried_before_any_call_and_are_open_again_when_they_listen() -> None:
    async def story() -> None:
        gate = brake()
        reach = ServerCheck(gate, {"http_proxy": "http://127.0.0.1:1"})
        async with upstream(Provider().answer) as url, upstream(Provider().answer) as other:
            await reach.check({"up": url})
            assert gate.rest() == []
            gate.found("up", "nothing listens")
            (closed,) = gate.rest()
            assert closed.until > 0
            await reach.check({"up": url, "proxied": "http://models.example.org"})  # not asked past its proxy
            (opened,) = gate.rest()
            assert (opened.provider, opened.until, opened.why) == ("up", 0.0, Reason(Why.REACHED))
        await reach.check({"down": other})
        (down,) = gate.rest()
        assert (down.provider, down.closed_by) == ("down", CallVerdict.DOWN)
        assert down.why.text("text").endswith("cannot be reached: connection refused")

    asyncio.run(story())


def test_a_call_that_waits_too_long_is_told_to_come_back_later(setting: Setting) -> None:
    async def story() -> None:
        provider = Provider(planned=[429], refusal={"Retry-After": "30"}, places=9)
        gate = brake(hold_seconds=0.2)
        async with (
            upstream(provider.answer) as url,
            replace(setting, gate=gate).line(CHAT.wire, f"{url}/v1") as line,
        ):
            assert (await line.ask(CHAT)).headers["Retry-After"] == "30"
            heard = await line.ask(CHAT)
            assert heard.status == 429
            assert "takes no calls now" in str(text_at(heard.json, "error", "message"))
        assert provider.statuses == [429]

    asyncio.run(story())


def test_a_program_that_goes_away_leaves_its_place_to_others(setting: Setting) -> None:
    async def story() -> None:
        provider = Provider(call_seconds=30.0)
        gate = brake()
        async with (
            upstream(provider.answer) as url,
            replace(setting, gate=gate).line(CHAT.wire, f"{url}/v1") as line,
        ):
            asked = [asyncio.create_task(line.ask(CHAT)) for _ in range(3)]
            await provider.full.wait()
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            provider.call_seconds = 0.0
            heard = await asyncio.gather(*(ask(line, 1) for _ in range(3)))
            assert heard == [[200]] * 3

    asyncio.run(story())


def test_a_limit_that_an_earlier_run_found_is_tried_again_and_the_change_is_told() -> None:
    """Else one refusal would hold an account down in all later runs."""
    time = [0.0]
    gate = ProviderBrake(clock=lambda: time[0])
    assert gate.look("login:codex", 2.0).limit == 2
    assert gate.rest() == [], "the log knows it"
    for _ in range(300):
        time[0] += 60.0
        with ExitStack() as stack:
            for _ in range(gate.look("login:codex", 0.0).limit):
                stack.enter_context(gate.attend("login:codex")).ended(None, "")

    async def told() -> int:
        async with asyncio.timeout(10):
            return max(news.limit for news in await gate.wait())

    assert asyncio.run(told()) > 2
