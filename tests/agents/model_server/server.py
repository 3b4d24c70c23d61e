"""The scripted model server: five protocols on one loopback port, one answer for one conversation.

1. The base URL names the scenario and, after `~`, the instance: `http://127.0.0.1:PORT/s/basic~claude`.
   The instance only keeps logs apart, and counts for scenarios that fail the first so many times.
2. Nothing is remembered between requests but that log: the same conversation always gets the same answer.
"""

import asyncio
import json
from dataclasses import dataclass, field, replace

from aiohttp import web

from tests.agents.model_server import around_the_model, faults
from tests.agents.model_server.conversation import Conversation, Json
from tests.agents.model_server.protocols import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.agents.model_server.protocols.wire import Wire
from tests.agents.model_server.request_log import RequestLog, Seen
from tests.agents.model_server.scripted_reply import is_beside_the_work, reply_to
from tests.agents.model_server.scripts import SCRIPTS, Scenario, Script, scenario, with_inline_script

WIRES = {
    "/messages": anthropic.WIRE,
    "/chat/completions": openai_chat.WIRE,
    "/responses": openai_responses.WIRE,
    ":generateContent": gemini.WIRE,
    ":streamGenerateContent": gemini.WIRE,
    "/api/chat": ollama.WIRE,
}
_LARGEST_BODY = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a request's path."""

    scenario: str
    instance: str
    path: str


def address(raw: str) -> Address:
    """`/s/basic~one/v1/messages` is scenario `basic`, instance `one`, path `/v1/messages`."""
    if not raw.startswith("/s/"):
        return Address("basic", "basic", raw)
    place, slash, rest = raw.removeprefix("/s/").partition("/")
    name, _, instance = place.partition("~")
    return Address(name, instance or name, slash + rest)


@dataclass(slots=True)
class ScriptedModel:
    """The web application, and what it has seen."""

    scripts: dict[str, Script] = field(default_factory=lambda: dict(SCRIPTS))
    log: RequestLog = field(default_factory=RequestLog)
    pause_seconds: float = 0.2
    """Between two pieces of a slow answer."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.router.add_get("/log/{instance}", self._show_log)
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def _show_log(self, request: web.Request) -> web.Response:
        seen = self.log.of(request.match_info["instance"])
        return web.json_response([_as_json(one) for one in seen])

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        where = address(request.path)
        body = await request.text()
        wire = next((wire for ending, wire in WIRES.items() if where.path.endswith(ending)), None)
        if wire is None or request.method != "POST":
            self.log.add(_seen(request, where, body))
            unknown = web.json_response({"error": {"message": f"nothing is at {where.path}"}}, status=404)
            return around_the_model.answer(request.method, where.path) or unknown
        try:
            planned = scenario(where.scenario, self.scripts)
            conversation = wire.read(_body(body, where.path))
        except (KeyError, ValueError, TypeError) as mistake:
            return web.json_response(wire.error(400, f"cannot read this request: {mistake!r}"), status=400)
        return await self._speak(request, _seen(request, where, body), wire, planned, conversation)

    async def _speak(
        self, request: web.Request, seen: Seen, wire: Wire, planned: Scenario, conversation: Conversation
    ) -> web.StreamResponse:
        step = conversation.step
        beside = is_beside_the_work(conversation)
        # A title comes before the first call or after it: were it to fail too, nobody could count failures.
        fault = (
            None if beside else planned.fault_at(step, earlier_requests=len(self.log.calls(seen.instance)))
        )
        self.log.add(replace(seen, protocol=wire.name, step=step, fault=fault, beside_the_work=beside))
        reply = reply_to(conversation, with_inline_script(planned, conversation.prompt).script)
        if conversation.streaming:
            frames = wire.frames(reply, conversation)
        else:
            whole = json.dumps(wire.whole(reply)).encode()
            frames = [whole[: len(whole) // 2], whole[len(whole) // 2 :]]
        return await self._send(request, wire, conversation.streaming, fault, frames)

    async def _send(
        self, request: web.Request, wire: Wire, streaming: bool, fault: str | None, frames: list[bytes]
    ) -> web.StreamResponse:
        content_type = wire.stream_type if streaming else "application/json"
        if fault is None:
            return await faults.stream(request, frames, content_type)
        if fault[1:].isdigit():
            return faults.refusal(int(fault[1:]), wire)
        if fault in ("empty", "garbage"):
            return faults.broken_body(fault, wire, streaming)
        if fault == "slow":
            return await faults.stream(request, frames, content_type, self.pause_seconds)
        if fault == "hang":
            await faults.hang(self.closing)
            return web.Response(status=503)
        response = await faults.cut(request, frames, content_type)
        if fault == "hangmid":
            await faults.hang(self.closing)
        return await faults.drop(request, response)


def _body(text: str, path: str) -> Json:
    body: Json = json.loads(text)
    if ":" in path:  # Gemini names the model, and whether to stream, in the path
        model, _, method = path.rpartition("/")[2].partition(":")
        body = {**body, "model": model, "stream": method.startswith("stream")}
    return body


def _seen(request: web.Request, where: Address, body: str) -> Seen:
    return Seen(
        method=request.method,
        path=where.path,
        scenario=where.scenario,
        instance=where.instance,
        headers={name.lower(): value for name, value in request.headers.items()},
        query=dict(request.query),
        body=body,
    )


def _as_json(seen: Seen) -> Json:
    return {
        "method": seen.method,
        "path": seen.path,
        "scenario": seen.scenario,
        "headers": dict(seen.headers),
        "protocol": seen.protocol,
        "step": seen.step,
        "fault": seen.fault,
        "beside_the_work": seen.beside_the_work,
        "body_bytes": len(seen.body.encode()),
    }
