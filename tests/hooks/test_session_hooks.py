"""Commands that hear of a session: what they are told, and when their word counts (W13)."""

import asyncio
import gc
import json
import select
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from interlock.model.moment import Moment
from interlock.model.session import Event, EventKind
from interlock.run.hooks import About, Hooks, MomentSource, SessionHooks, can_block, source_of
from interlock.run.hooks.listener import QUESTION_BYTES, QUESTIONS_AT_ONCE, RELAY, listen

pytestmark = pytest.mark.slow


class Desk:
    """One session, and what its commands were told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.heard = folder / "heard"

    def hooks(
        self, commands: Mapping[str, str], use: str = "claude-code", seconds: float = 10.0
    ) -> SessionHooks:
        told = {Moment(name): (command,) for name, command in commands.items()}
        about = About("t", 2, use, "s-1", "/w", self.folder / "e.jsonl", self.folder / "hooks.jsonl")
        return SessionHooks(Hooks(told, seconds, self.folder), about)

    @property
    def record(self) -> str:
        """A command that writes down what it is told."""
        return f"cat >> '{self.heard}'; echo >> '{self.heard}'"

    def told(self) -> list[dict[str, Any]]:  # Any: parsed JSON
        lines = self.heard.read_text().splitlines() if self.heard.exists() else []
        return [json.loads(line) for line in lines if line]

    def log(self) -> list[dict[str, Any]]:  # Any: parsed JSON
        return [json.loads(line) for line in (self.folder / "hooks.jsonl").read_text().splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_session_begins_and_ends_with_all_that_a_command_needs_to_know(desk: Desk) -> None:
    hooks = desk.hooks(dict.fromkeys(["SessionStart", "UserPromptSubmit", "SessionEnd"], desk.record))

    async def session() -> str:
        said = await hooks.begin("Do it\nwell", resumed=False)
        hooks.hear(Event(EventKind.SESSION, session="own-id"))
        await hooks.end("timeout", {"notes_path": "/n"})
        return said

    assert asyncio.run(session()) == ""
    start, prompt, end = desk.told()
    assert (start["hook_event_name"], start["source"], start["session_id"]) == (
        "SessionStart",
        "startup",
        "s-1",
    )
    assert (prompt["prompt"], prompt["cwd"], prompt["can_block"]) == ("Do it\nwell", "/w", True)
    assert (end["reason"], end["session_id"], end["notes_path"]) == ("timeout", "own-id", "/n")
    assert {"transcript_path", "task", "attempt", "agent"} <= set(end)


@pytest.mark.parametrize(
    "objection",
    [
        "echo not today >&2; exit 2",
        """echo '{"decision": "block", "reason": "not today"}'""",
        'echo \'{"hookSpecificOutput": {"permissionDecision": "deny", '
        '"permissionDecisionReason": "not today"}}\'',
    ],
)
@pytest.mark.parametrize("moment", ["SessionStart", "UserPromptSubmit"])
def test_a_command_can_keep_any_agent_from_starting(desk: Desk, moment: str, objection: str) -> None:
    hooks = desk.hooks({moment: objection}, use="codex")
    assert asyncio.run(hooks.begin("x", resumed=False)) == "not today"
    assert [line["blocks"] for line in desk.log()] == [True]


@pytest.mark.parametrize(
    "command", ["exit 1", "exit 127", "echo no", "no-such-command", "sleep 60", "kill -9 $$"]
)
def test_a_command_that_fails_hangs_or_chatters_stops_nothing(desk: Desk, command: str) -> None:
    hooks = desk.hooks({"SessionStart": command}, seconds=0.5)
    assert asyncio.run(hooks.begin("x", resumed=False)) == ""
    assert [line["blocks"] for line in desk.log()] == [False]


def test_what_a_command_leaves_running_ends_with_it_or_keeps_no_pipe_of_ours_open(
    desk: Desk, tmp_path: Path
) -> None:
    """What left its group may write as long as it likes. (An open pipe is a warning, and so an error.)"""
    left, up = tmp_path / "left", tmp_path / "up"
    leaves = f"sleep 600 & echo $! > '{left}'; setsid sh -c 'echo $$ > {up}; exec sleep 600' & wait"
    hooks = desk.hooks({"SessionStart": leaves}, seconds=3.0)
    try:
        asyncio.run(hooks.begin("x", resumed=False))
        gc.collect()
        with suppress(psutil.NoSuchProcess):
            psutil.Process(int(left.read_text())).wait(60)
    finally:
        psutil.Process(int(up.read_text())).kill()


def test_what_is_read_from_the_output_is_told_in_order_and_holds_nobody_up(desk: Desk) -> None:
    names = ["PreToolUse", "PostToolUse", "Stop"]
    hooks = desk.hooks(dict.fromkeys(names, desk.record), use="gemini")

    async def session() -> None:
        hooks.hear(Event(EventKind.TOOL, '{"command": "ls"}', call="1", tool="shell"))
        hooks.hear(Event(EventKind.COMMAND, "ls", call="1", exit_code=0))
        hooks.hear(Event(EventKind.RESULT, "a b", call="1"))
        hooks.hear(Event(EventKind.EDIT, path="a.py"))
        hooks.hear(Event(EventKind.MESSAGE, "All done."))
        hooks.hear(Event(EventKind.END, ok=True))
        assert desk.told() == []  # nothing has been waited for
        await hooks.settle()
        await hooks.end("done", {})

    asyncio.run(session())
    before, after, edit, stop = desk.told()
    assert (before["tool_name"], before["tool_input"], before["can_block"]) == (
        "shell",
        {"command": "ls"},
        False,
    )
    assert (after["tool_name"], after["tool_response"]["text"]) == ("shell", "a b")
    assert (edit["tool_name"], edit["tool_input"]) == ("Edit", {"file_path": "a.py"})
    assert stop["last_assistant_message"] == "All done."


def test_an_objection_to_what_has_already_happened_does_not_count(desk: Desk) -> None:
    hooks = desk.hooks({"PreToolUse": "exit 2"}, use="codex")

    async def session() -> None:
        hooks.hear(Event(EventKind.TOOL, "x", call="1", tool="shell"))
        await hooks.settle()
        await hooks.end("done", {})

    asyncio.run(session())
    assert [line["blocks"] for line in desk.log()] == [False]


def test_a_slow_command_does_not_keep_a_session_from_ending(desk: Desk) -> None:
    hooks = desk.hooks({"PostToolUse": "sleep 600", "SessionEnd": desk.record}, use="codex", seconds=3.0)

    async def session() -> None:
        for number in range(50):
            hooks.hear(Event(EventKind.RESULT, "x", call=str(number), tool="shell"))
        await hooks.settle()
        await hooks.end("done", {})

    asyncio.run(asyncio.wait_for(session(), 60))
    assert [told["hook_event_name"] for told in desk.told()] == ["SessionEnd"]
    assert hooks.untold > 0


def through_the_relay(hooks: SessionHooks, folder: Path, question: str) -> tuple[int, str]:
    """What the agent program gets, with a forwarder in place of the sandbox's."""

    async def asked() -> tuple[int, str]:
        async with listen(folder, hooks.respond) as path:

            async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                inner_reader, inner_writer = await asyncio.open_unix_connection(path)
                inner_writer.write(await reader.readline())
                writer.write(await inner_reader.readline())
                inner_writer.close()
                writer.close()

            server = await asyncio.start_server(forward, "127.0.0.1", 0, limit=1 << 24)
            port = server.sockets[0].getsockname()[1]
            relay = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", str(RELAY), str(port), stdin=-1, stdout=-1, stderr=-1
            )
            _, err = await relay.communicate(question.encode())
            server.close()
            return relay.returncode or 0, err.decode()

    return asyncio.run(asked())


def test_a_program_with_hooks_of_its_own_is_told_no_before_it_acts(desk: Desk, tmp_path: Path) -> None:
    hooks = desk.hooks({"PreToolUse": "grep -q rm && { echo not that >&2; exit 2; }; exit 0"})
    question = '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}'
    assert through_the_relay(hooks, tmp_path, question % "rm -r x") == (2, "not that\n")
    assert through_the_relay(hooks, tmp_path, question % "ls") == (0, "")


@pytest.mark.parametrize(
    "padding",
    ['"\\ud800"', "[" * 2000 + "]" * 2000, "[" * 970 + "]" * 970, f'"{"x" * QUESTION_BYTES}"'],
    ids=["half a surrogate", "nesting", "less nesting", "length"],
)
def test_a_call_that_cannot_be_read_is_not_a_way_past_the_commands(
    desk: Desk, tmp_path: Path, padding: str
) -> None:
    hooks = desk.hooks({"PreToolUse": "echo not that >&2; exit 2"})
    question = f'{{"hook_event_name":"PreToolUse","tool_input":{{"command":"rm -r x","more":{padding}}}}}'
    code, reason = through_the_relay(hooks, tmp_path, question)
    assert code == 2
    assert "cannot be read" in reason or "not that" in reason


async def ask_often(path: str, times: int) -> list[asyncio.StreamWriter]:
    """Ask, and wait for no answer."""
    writers = []
    for _ in range(times):
        _, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"hook_event_name": "Stop"}\n')
        writers.append(writer)
    return writers


def test_a_program_that_asks_without_end_takes_few_processes_and_none_when_it_is_over(
    desk: Desk, tmp_path: Path
) -> None:
    """An agent can ask as often as it likes; what it asked ends with it."""
    hooks = desk.hooks({"Stop": f"echo $$ >> '{tmp_path}/up'; exec sleep 600"}, seconds=600)
    up = tmp_path / "up"

    def pids() -> list[int]:
        return [int(line) for line in up.read_text().split()] if up.exists() else []

    def wait_for(count: int) -> None:
        deadline = time.monotonic() + 60
        while len(pids()) < count:
            assert time.monotonic() < deadline, "the commands did not start"
            select.select([], [], [], 0.01)

    async def session() -> None:
        async with listen(tmp_path, hooks.respond) as path:
            writers = await ask_often(path, 3 * QUESTIONS_AT_ONCE)
            await asyncio.to_thread(wait_for, QUESTIONS_AT_ONCE)
        for writer in writers:
            writer.close()

    asyncio.run(asyncio.wait_for(session(), 120))
    assert len(pids()) == QUESTIONS_AT_ONCE
    assert [pid for pid in pids() if psutil.pid_exists(pid)] == []


@pytest.mark.thorough
def test_a_question_given_up_at_any_moment_leaves_neither_process_nor_pipe(
    desk: Desk, tmp_path: Path
) -> None:
    """Also while its command is being started. (An open pipe is a warning, and so an error.)"""
    hooks = desk.hooks({"Stop": f"echo $$ >> '{tmp_path}/up'; exec sleep 600"}, seconds=600)

    async def give_up_after(steps: int) -> None:
        asking = asyncio.create_task(hooks.respond(b'{"hook_event_name": "Stop"}\n'))
        for _ in range(steps):
            await asyncio.sleep(0)
        asking.cancel()
        for _ in range(3):  # a busy machine: all that follows is noticed at once
            select.select([], [], [], 0.01)
            await asyncio.sleep(0)
        with suppress(asyncio.CancelledError):
            await asking

    for steps in range(20):
        asyncio.run(asyncio.wait_for(give_up_after(steps), 60))
        gc.collect()
    assert all(not psutil.pid_exists(int(pid)) for pid in (tmp_path / "up").read_text().split())


def test_questions_that_had_to_wait_are_answered(desk: Desk, tmp_path: Path) -> None:
    hooks = desk.hooks({"Stop": "exit 0"})

    async def one(path: str) -> bytes:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"hook_event_name": "Stop"}\n')
        answer = await reader.readline()
        writer.close()
        return answer

    async def session() -> list[bytes]:
        async with listen(tmp_path, hooks.respond) as path:
            return await asyncio.gather(*(one(path) for _ in range(2 * QUESTIONS_AT_ONCE)))

    answers = asyncio.run(asyncio.wait_for(session(), 60))
    assert [json.loads(answer)["blocks"] for answer in answers] == [False] * 2 * QUESTIONS_AT_ONCE


def test_a_question_cannot_say_it_comes_from_another_session(desk: Desk, tmp_path: Path) -> None:
    hooks = desk.hooks({"Stop": desk.record})
    forged = '{"hook_event_name": "Stop", "task": "other", "session_id": "x", "cwd": "/etc",\n "n": 1}'
    assert through_the_relay(hooks, tmp_path, forged) == (0, "")
    (told,) = desk.told()
    assert (told["task"], told["session_id"], told["cwd"], told["n"]) == ("t", "s-1", "/w", 1)


@pytest.mark.parametrize("question", ["", "nonsense", "[]", '{"hook_event_name": "SessionEnd"}', "{}"])
def test_a_question_that_makes_no_sense_is_answered_with_nothing(
    desk: Desk, tmp_path: Path, question: str
) -> None:
    hooks = desk.hooks({"SessionEnd": desk.record, "Stop": desk.record})
    assert through_the_relay(hooks, tmp_path, question) == (0, "")
    assert desk.told() == []


def test_when_nobody_can_be_asked_the_agent_goes_on() -> None:
    async def asked() -> int:
        relay = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", str(RELAY), "1", stdin=-1, stderr=-1
        )
        await relay.communicate(b"{}")
        return relay.returncode or 0

    assert asyncio.run(asked()) == 1


def test_only_what_is_asked_in_time_can_be_blocked() -> None:
    for moment in Moment:
        for use in ("command", "codex", "claude-code", "acp"):
            if can_block(use, moment):
                assert source_of(use, moment) in (MomentSource.OURS, MomentSource.NATIVE)
    assert can_block("claude-code", Moment.BEFORE_TOOL)
    assert not can_block("codex", Moment.BEFORE_TOOL)
    assert source_of("codex", Moment.BEFORE_COMPACT) is MomentSource.NEVER
