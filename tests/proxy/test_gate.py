"""The seam for budgets and shaping: a gate holds calls up, refuses them, and learns how they ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from interlock.model.outcome import ErrorClass
from interlock.model.session import Usage
from interlock.proxy import CallError, CallOutcome, CallTurn, EndpointOrder, ModelCall, Refused
from interlock.proxy.json_values import text_at
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, LANGUAGES, Language, Setting


@dataclass
class Toll:
    """Lets calls pass when it is told to, and writes down what it saw."""

    may_pass: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[ModelCall] = field(default_factory=list)
    outcomes: list[CallOutcome] = field(default_factory=list)
    inside: int = 0
    may_repeat: bool = False

    @asynccontextmanager
    async def turn(self, order: EndpointOrder, call: ModelCall) -> AsyncIterator[CallTurn]:
        self.calls.append(call)
        self.waiting.set()
        await self.may_pass.wait()
        self.inside += 1
        try:
            yield self
        finally:
            self.inside -= 1

    def ended(self, outcome: CallOutcome) -> None:
        self.outcomes.append(outcome)


class ClosedGate:
    """Lets nothing pass."""

    @asynccontextmanager
    async def turn(self, order: EndpointOrder, call: ModelCall) -> AsyncIterator[CallTurn]:
        if call.generates:
            raise Refused(f"{order.name} has spent its share", ErrorClass.BUDGET, retry_after_seconds=30)
        yield Toll()


def test_a_call_waits_at_the_gate_and_the_gate_learns_how_it_ended(
    model: RunningModel, setting: Setting
) -> None:
    async def story() -> Toll:
        toll = Toll()
        async with replace(setting, gate=toll).line(ANTHROPIC.wire, model.url("say", "toll")) as line:
            async with asyncio.TaskGroup() as both:
                asked = both.create_task(line.ask(ANTHROPIC, stream=True))
                await toll.waiting.wait()
                assert model.calls("toll") == []
                toll.may_pass.set()
            assert asked.result().status == 200
        return toll

    toll = asyncio.run(story())
    (call,) = toll.calls
    assert (call.method, call.path, call.model) == ("POST", "/v1/messages", "claude-x")
    assert call.generates
    assert toll.outcomes == [CallOutcome(200, ANTHROPIC.usage)]
    assert toll.inside == 0


def test_the_gate_learns_of_failures_and_when_to_try_again(model: RunningModel, setting: Setting) -> None:
    async def story() -> list[CallOutcome]:
        toll = Toll()
        toll.may_pass.set()
        async with replace(setting, gate=toll).line(ANTHROPIC.wire, model.url("f429")) as line:
            await line.ask(ANTHROPIC)
        return toll.outcomes

    (outcome,) = asyncio.run(story())
    assert (outcome.status, outcome.usage) == (429, Usage(calls=1))
    assert outcome.trouble
    assert outcome.trouble.retry_after_seconds == 1.0


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_a_call_that_the_gate_refuses_is_a_429_in_the_providers_form(
    language: Language, model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        shut = replace(setting, gate=ClosedGate())
        async with shut.line(language.wire, model.url("say", "shut")) as line:
            heard = await line.ask(language)
            assert (heard.status, heard.headers["Retry-After"]) == (429, "30")
            assert text_at(heard.json, *language.error_text) == "attempt has spent its share"
            assert line.endpoint.last_error == CallError(ErrorClass.BUDGET, "attempt has spent its share", 30)
            assert line.endpoint.calls == 0
            assert [entry["note"] for entry in line.entries()] == ["not passed on"]

    asyncio.run(story())
    assert model.seen("shut") == []


def test_a_program_that_goes_away_gives_up_its_place_at_the_gate(
    model: RunningModel, setting: Setting
) -> None:
    async def story() -> None:
        toll = Toll()
        async with replace(setting, gate=toll).line(ANTHROPIC.wire, model.url("say", "left")) as line:
            asked = asyncio.create_task(line.ask(ANTHROPIC))
            await toll.waiting.wait()
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            toll.waiting.clear()
            second = asyncio.create_task(line.ask(ANTHROPIC))
            await toll.waiting.wait()
            toll.may_pass.set()
            assert (await second).status == 200
            assert len(toll.outcomes) == 1
            assert line.endpoint.calls == 1

    asyncio.run(story())
