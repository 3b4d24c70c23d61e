"""The hooks of one session: asked where the answer counts, told where it does not.

1. The agent never waits for a command that cannot object: what is only observed is told in order, beside it.
2. A command that fails, hangs or is missing stops nothing. What each did is in the session's hook log.
3. SessionEnd comes once, from us, whatever ended the session.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from interlock.model.moment import Moment
from interlock.model.session import Event, EventKind
from interlock.run.hooks.command import HookAnswer, ask
from interlock.run.hooks.moments import IN_SESSION, MomentSource, can_block, source_of
from interlock.run.scope import EDITING

WAITING_MOST = 1_000
"""Observed moments that wait for their commands. An agent that is faster than that is not held up."""

Guard = Callable[[Mapping[str, object]], Awaitable[str]]
"""A check of the program's next action; returns the reason against it, or ''."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The user's commands by moment."""

    commands: Mapping[Moment, tuple[str, ...]] = field(default_factory=dict)
    seconds: float = 10.0
    """The time limit of each."""
    where: Path = Path()
    """The folder they are run in: not the workspace, whose files an agent wrote."""


@dataclass(frozen=True, slots=True)
class About:
    """The identity of a session."""

    task: str
    attempt: int
    use: str
    """The kind of agent."""
    session: str
    workspace: str
    transcript: Path
    log: Path
    """The log of the commands."""
    written: str = ""
    """The folder that holds what the agent writes: its workspace may be seen by itself alone."""


class SessionHooks:
    """The commands for one session."""

    def __init__(self, hooks: Hooks, about: About) -> None:
        self._hooks = hooks
        self._about = about
        self._session = about.session
        self._calls: dict[str, Event] = {}
        """Tools whose result has not come yet."""
        self._last_message = ""
        self.guard: Guard | None = None
        """Asked before the user's commands, where the program asks before it uses a tool."""
        self._queue: asyncio.Queue[tuple[Moment, dict[str, object]]] = asyncio.Queue(WAITING_MOST)
        self._teller: asyncio.Task[None] | None = None
        self.untold = 0
        """Observed moments that came too fast, or whose session was over before they were told."""

    @property
    def native(self) -> tuple[Moment, ...]:
        """Return the moments that the program itself is to ask about."""
        wanted = [moment for moment in IN_SESSION if self._is_wanted(moment)]
        return tuple(moment for moment in wanted if source_of(self._about.use, moment) is MomentSource.NATIVE)

    @property
    def tools(self) -> str:
        """The tools that it is to ask about beforehand, as a pattern of names; '' for all."""
        return "" if self._hooks.commands.get(Moment.BEFORE_TOOL) else EDITING

    def _is_wanted(self, moment: Moment) -> bool:
        is_guarded = moment is Moment.BEFORE_TOOL and self.guard is not None
        return is_guarded or bool(self._hooks.commands.get(moment))

    async def begin(self, prompt: str, resumed: bool) -> str:
        """Run the hooks before the agent starts; return the reason why it must not start, or ''."""
        source = {"source": "resume" if resumed else "startup"}
        answer = await self._ask(Moment.SESSION_START, source)
        if not answer.blocks:
            answer = await self._ask(Moment.PROMPT, {"prompt": prompt})
        return answer.reason if answer.blocks else ""

    async def respond(self, question: bytes) -> bytes:
        """A question of the program's own hooks. All of it is the agent's word, but which session it is."""
        try:
            answer = await self._answer(msgspec.json.decode(question, type=dict[str, object]))
        except (msgspec.DecodeError, RecursionError):
            # To let a call go on would be a way past the commands: a model writes the input of its tools.
            is_call = question.lstrip().startswith(b"{")
            answer = HookAnswer(
                blocks=is_call, reason="this call cannot be read by the hooks" if is_call else ""
            )
        return msgspec.json.encode({"blocks": answer.blocks, "reason": answer.reason})

    async def _answer(self, told: Mapping[str, object]) -> HookAnswer:
        try:
            moment = Moment(str(told.get("hook_event_name")))
        except ValueError:
            return HookAnswer()
        if moment not in self.native:
            return HookAnswer()
        answer = await self._guarded(moment, told)
        return answer if answer.blocks else await self._ask(moment, told)

    async def _guarded(self, moment: Moment, told: Mapping[str, object]) -> HookAnswer:
        if moment is not Moment.BEFORE_TOOL or self.guard is None or not (why := await self.guard(told)):
            return HookAnswer()
        answer = HookAnswer(blocks=True, reason=why)
        self._note(moment, "interlock: scope", answer)
        return answer

    def hear(self, event: Event) -> None:
        if event.kind is EventKind.SESSION:
            self._session = event.session or self._session
        if event.kind is EventKind.MESSAGE:
            self._last_message = event.text
        for moment, told in self._observed(event):
            if (
                self._hooks.commands.get(moment)
                and source_of(self._about.use, moment) is MomentSource.OBSERVED
            ):
                self._tell_later(moment, told)

    async def settle(self) -> None:
        """The agent has ended: tell what is still to be told, as far as time allows."""
        if self._teller is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._hooks.seconds):
                await self._queue.join()
        teller = self._teller
        self.drop()
        await asyncio.wait([teller])  # it ends the command that it waits for

    def drop(self) -> None:
        if self._teller is not None:
            self._teller.cancel()
            self._teller = None
        self.untold += self._queue.qsize()

    async def end(self, reason: str, told: Mapping[str, object]) -> None:
        await self._ask(Moment.SESSION_END, {"reason": reason, **told})

    def _observed(self, event: Event) -> list[tuple[Moment, dict[str, object]]]:
        match event.kind:
            case EventKind.TOOL:
                self._calls[event.call] = event
                return [(Moment.BEFORE_TOOL, _tool(event))]
            case EventKind.RESULT:
                call = self._calls.pop(event.call, event)
                return [(Moment.AFTER_TOOL, {**_tool(call), "tool_response": _response(event)})]
            case EventKind.EDIT if event.call not in self._calls:
                tool = {"tool_name": "Edit", "tool_input": {"file_path": event.path}}
                return [(Moment.AFTER_TOOL, {**tool, "tool_response": _response(event)})]
            case EventKind.COMMAND if event.call not in self._calls:
                tool = {"tool_name": "Bash", "tool_input": {"command": event.text}}
                return [(Moment.AFTER_TOOL, {**tool, "tool_response": {"exit_code": event.exit_code}})]
            case EventKind.END:
                return [(Moment.STOP, {"last_assistant_message": self._last_message, "ok": event.ok})]
            case _:
                return []

    def _tell_later(self, moment: Moment, told: dict[str, object]) -> None:
        if self._teller is None:
            self._teller = asyncio.get_running_loop().create_task(self._tell())
        try:
            self._queue.put_nowait((moment, told))
        except asyncio.QueueFull:
            self.untold += 1

    async def _tell(self) -> None:
        while True:
            moment, told = await self._queue.get()
            try:
                await self._ask(moment, told)
            finally:
                self._queue.task_done()

    async def _ask(self, moment: Moment, told: Mapping[str, object]) -> HookAnswer:
        """All commands of a moment, one after the other; the first that objects has the last word."""
        commands = self._hooks.commands.get(moment, ())
        payload = json.dumps({**told, **self._who(moment)}, default=str).encode() if commands else b""
        for command in commands:
            try:
                answer = await ask(command, payload, self._hooks.where, self._hooks.seconds)
            except OSError as error:
                answer = HookAnswer(reason=f"it could not be run: {error}", exit_code=None)
            self._note(moment, command, answer)
            if answer.blocks and can_block(self._about.use, moment):
                return answer
        return HookAnswer()

    def _who(self, moment: Moment) -> dict[str, object]:
        about = self._about
        return {
            "hook_event_name": moment.value,
            "session_id": self._session,
            "transcript_path": str(about.transcript),
            "cwd": about.workspace,
            "written": about.written,
            "task": about.task,
            "attempt": about.attempt,
            "agent": about.use,
            "can_block": can_block(about.use, moment),
        }

    def _note(self, moment: Moment, command: str, answer: HookAnswer) -> None:
        line = {
            "moment": moment.value,
            "command": command,
            "exit_code": answer.exit_code,
            "seconds": round(answer.seconds, 3),
            "blocks": answer.blocks and can_block(self._about.use, moment),
            "reason": answer.reason,
        }
        with contextlib.suppress(OSError), self._about.log.open("ab") as file:
            # Suppressed: a full disk has more important things waiting for it.
            file.write(msgspec.json.encode(line) + b"\n")


def _tool(event: Event) -> dict[str, object]:
    return {"tool_name": event.tool, "tool_input": _structured(event.text), "tool_use_id": event.call}


def _structured(text: str) -> object:
    """Return a tool's arguments as the program had them, if they can still be read."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {"text": text}
    return value if isinstance(value, dict) else {"text": text}


def _response(event: Event) -> dict[str, object]:
    return {"ok": event.ok, "text": event.text}
