"""The tools of a person's editor: the official client, the real command, a real project and run (A22)."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from interlock.ui.cli.app import COMMANDS
from interlock.ui.mcp.people import Access, ToolScope, people_tools
from interlock.ui.mcp.tools import listing
from tests.engine.scratch import Scratch
from tests.mcp.test_agent_tools import MOST_TOKENS, MOST_TOOLS, TOKEN_CHARS

pytestmark = pytest.mark.slow

ASKS = """\
case "$(cat "$INTERLOCK_PROMPT_FILE")" in
*Yes.*) echo x > "$INTERLOCK_TASK_ID.txt";;
*) echo "::interlock ask Is it x?";;
esac"""
Use = Callable[["Client"], Awaitable[None]]


class Client:
    """A session with `interlock mcp`."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def call(self, name: str, **arguments: object) -> Any:  # Any: parsed JSON, or text
        answer = await self._session.call_tool(name, arguments)
        text = "".join(getattr(part, "text", "") for part in answer.content)
        return f"error: {text}" if answer.is_error else json.loads(text) if text[:1] == "{" else text

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._session.list_tools()).tools]


@asynccontextmanager
async def client(scratch: Scratch, scope: str) -> AsyncIterator[Client]:
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "interlock", "mcp", "--scope", scope, "--project", str(scratch.root)],
        env={**scratch.env, "PATH": os.environ["PATH"]},
    )
    async with stdio_client(started) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        yield Client(session)


def use(scratch: Scratch, does: Use, scope: str = "decide") -> None:
    async def used() -> None:
        async with client(scratch, scope) as opened:
            await does(opened)

    asyncio.run(used())


def test_an_editor_runs_a_project_from_its_first_status_to_its_last(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Say x}\n", ASKS)

    async def does(client: Client) -> None:
        assert (await client.call("status"))["tasks"] == []
        await client.call("run")
        await asyncio.to_thread(scratch.interlock, "wait", code=None)
        (asked,) = (await client.call("inbox"))["items"]
        assert (asked["kind"], asked["text"]) == ("question", "Is it x?")
        await client.call("answer", task="a", text="Yes.")
        assert await client.call("add_task", id="b", goal="Yes.", needs=["a"]) == {"added": "b"}
        await client.call("run")
        await asyncio.to_thread(scratch.interlock, "wait", code=None)
        told = await client.call("status")
        assert {task["id"]: task["state"] for task in told["tasks"]} == {"a": "done", "b": "done"}
        assert (await client.call("explain", task="a")).startswith("a landed")

    use(scratch, does)


def test_a_refusal_reaches_the_client_with_its_hint(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Say x}\n")
    scratch.interlock("run")

    async def does(client: Client) -> None:
        assert "no run is active" in await client.call("stop")
        assert "no open proposal `x`" in await client.call("accept", id="x")
        assert "there is no task `zzz`" in await client.call("retry", task="zzz")
        assert "a does not wait for review" in await client.call("reject", task="a", why="no")

    use(scratch, does)


def test_a_change_is_approved_as_it_was_looked_at(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Say x}\n", review="required")
    scratch.interlock("run", code=6)

    async def does(client: Client) -> None:
        (item,) = (await client.call("inbox"))["items"]
        assert item["kind"] == "review"
        seen = await client.call("review", task="a")
        assert "+a" in seen["diff"]
        assert "the change of a is another one now" in await client.call("approve", task="a", digest="0" * 40)
        assert "error" not in await client.call("approve", task="a", digest=seen["review"]["digest"])
        await client.call("run")
        await asyncio.to_thread(scratch.interlock, "wait")

    use(scratch, does)
    assert scratch.states() == {"a": "done"}


@pytest.mark.parametrize(("scope", "count"), [("read", 4), ("act", 8)])
def test_a_client_of_a_smaller_scope_cannot_decide(scratch: Scratch, scope: str, count: int) -> None:
    scratch.graph("  a: {goal: Say x}\n")

    async def does(client: Client) -> None:
        assert len(await client.tools()) == count
        for name in ("answer", "accept", "approve", "reject"):
            assert f"there is no tool {name}" in await client.call(name)

    use(scratch, does, scope)


def test_a_run_that_refuses_to_begin_says_so_to_the_client(scratch: Scratch) -> None:
    scratch.write(**{"task-graph__yaml": "version: 1\ntasks: 5\n"})
    scratch.commit("no graph")

    async def does(client: Client) -> None:
        ended = await client.call("run")
        assert ended["exit_code"] == 2
        assert "task-graph.yaml:2" in ended["said"]

    use(scratch, does)


def test_the_server_of_a_person_refuses_to_start_inside_an_attempt(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_TASK_ID", "a")
    assert "an agent of a run must not act for a person" in scratch.interlock("mcp", code=3)


def test_the_tools_of_a_person_are_few_and_short() -> None:
    access = Access(Path(), None, None, None, "")  # type: ignore[arg-type] # only listed
    told = listing(people_tools(access, ToolScope.DECIDE))
    assert len(told) <= MOST_TOOLS
    assert len(json.dumps(told)) / TOKEN_CHARS <= MOST_TOKENS


def test_the_guide_for_agents_is_short_and_names_only_commands_that_exist(scratch: Scratch) -> None:
    guide = scratch.interlock("--skill")
    assert len(guide.split()) < 600
    named = set(re.findall(r"(?:^|`)interlock ([a-z]+)", guide, re.MULTILINE))
    assert len(named) > 10
    assert named <= COMMANDS.keys()
