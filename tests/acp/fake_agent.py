"""An agent that speaks the protocol by the library's own agent side, and does what its prompt says.

It follows the words of the prompt that begin with an @: `@write` writes hello.txt, `@ask` asks before it
writes, `@echo` says the prompt again, `@vendor` sends messages of its
own, `@fail:CODE:TEXT` answers with an error, `@stop:REASON` ends with that reason, `@text:WORDS` says
something, `@die` exits at once. Options: `--load`, `--resume` (what it can), `--key` (it wants to be
logged in), `--noise`, `--stubborn` (the end of its input does not end it).
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, cast

from acp import (
    Agent,
    Client,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    run_agent,
    start_edit_tool_call,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    AuthMethodAgent,
    Cost,
    PermissionOption,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionResumeCapabilities,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="once", name="Once", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]
NOISE = """not a message
{"jsonrpc": "2.0", "id": 77, "result": {}}
{"jsonrpc": "2.0", "method": "session/update", "params": {"update": 5}}
"""


class Fake:
    """Does what the words of its prompt say."""

    def __init__(self, options: set[str]) -> None:
        self._options = options
        self._client: Client
        self._is_in = "--key" not in options
        self._last_words = ""

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    # Any: the library hands over capabilities and settings that a fake has no use for
    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        resume = SessionResumeCapabilities() if "--resume" in self._options else None
        can = AgentCapabilities(
            load_session="--load" in self._options, session_capabilities=SessionCapabilities(resume=resume)
        )
        methods = [AuthMethodAgent(id="account", name="Log in"), AuthMethodAgent(id="api-key", name="A key")]
        return InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=can, auth_methods=[*methods]
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:  # Any: as above
        self._is_in = method_id == "api-key"

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:  # Any: as above
        if not self._is_in:
            raise RequestError.auth_required()
        return NewSessionResponse(session_id="fresh")

    async def load_session(self, session_id: str, **_: Any) -> LoadSessionResponse:  # Any: as above
        await self._say(session_id, "what was said before")
        if session_id == "broken":
            raise RequestError.resource_not_found(session_id)
        return LoadSessionResponse()

    async def resume_session(self, session_id: str, **_: Any) -> ResumeSessionResponse:  # Any: as above
        if session_id != "known":
            raise RequestError.method_not_found("session/resume")
        return ResumeSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:  # Any: as above
        for word in prompt[0].text.split():
            name, _colon, rest = word.partition(":")
            act = getattr(self, name.replace("@", "_"), None) if name.startswith("@") else None
            if act is not None and (reason := await act(session_id, rest or prompt[0].text)):
                return PromptResponse(stop_reason=reason)
        if not self._last_words:
            await self._say(session_id, "All")
            await self._say(session_id, " done.")
        used = Usage(total_tokens=110, input_tokens=100, output_tokens=10, cached_read_tokens=4)
        return PromptResponse(stop_reason="end_turn", usage=used)

    async def _say(self, session: str, text: str) -> None:
        await self._client.session_update(session, update_agent_message_text(text))

    async def _text(self, session: str, words: str) -> None:
        self._last_words = words
        await self._say(session, words.replace("_", " "))

    async def _echo(self, session: str, prompt: str) -> None:
        await self._say(session, f"I was told: {prompt}. ")

    async def _write(self, session: str, _rest: str) -> None:
        tell = self._client.session_update
        path = str(Path.cwd() / "hello.txt")
        await tell(session, update_agent_thought_text("hm"))
        await self._say(session, "I write it.")
        await tell(session, start_edit_tool_call("c1", "Write hello.txt", path, "hello"))
        Path(path).write_text("hello\n")
        await tell(
            session, update_tool_call("c1", status="completed", content=[tool_diff_content(path, "hello\n")])
        )
        command = {"command": "cat hello.txt"}
        await tell(session, start_tool_call("c2", "cat hello.txt", kind="execute", raw_input=command))
        content = [tool_content(text_block("hello"))]
        output = {"exit_code": 0}
        await tell(session, update_tool_call("c2", status="completed", content=[*content], raw_output=output))
        cost = Cost(amount=0.25, currency="USD")
        await tell(session, UsageUpdate(session_update="usage_update", used=5, size=9, cost=cost))

    async def _ask(self, session: str, rest: str) -> str | None:
        call = ToolCallUpdate(tool_call_id="c9", title="Write hello.txt", kind="edit")
        answer = await self._client.request_permission(session, call, OPTIONS)
        if answer.outcome.outcome == "cancelled":
            return "cancelled"
        await self._say(session, f"You said {answer.outcome.option_id}. ")
        if answer.outcome.option_id != "no":
            await self._write(session, rest)
        return None

    async def _vendor(self, session: str, _rest: str) -> None:
        await self._client.ext_notification("vendor/status", {"ok": True})
        try:
            await self._client.read_text_file(session, "/etc/passwd")
        except RequestError as refused:
            await self._say(session, f"It said {refused.code}. ")

    async def _fail(self, _session: str, rest: str) -> None:
        code, _, text = rest.partition(":")
        raise RequestError(int(code), text.replace("_", " "), {"details": "more"})

    async def _stop(self, _session: str, reason: str) -> str:
        return reason

    async def _die(self, _session: str, _rest: str) -> None:
        os._exit(7)


if __name__ == "__main__":
    words = set(sys.argv[1:])
    if "--noise" in words:
        sys.stderr.write("starting {up}\n")
        sys.stdout.write(NOISE)
        sys.stdout.flush()
    # cast: the library calls what is there, and no client of ours calls the rest
    asyncio.run(run_agent(cast("Agent", Fake(words)), use_unstable_protocol=True))
    if "--stubborn" in words:
        asyncio.run(asyncio.Event().wait())
