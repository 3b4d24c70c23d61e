"""The tools over HTTP, by the official client, on the socket that a sandbox is given a port for (A22)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import msgspec
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from interlock.ui.mcp.http import serving
from interlock.ui.mcp.tools import Tool

pytestmark = pytest.mark.slow

URL = "http://127.0.0.1:18083/mcp"


class Name(msgspec.Struct, forbid_unknown_fields=True):
    name: str


def greeting(attempt: str) -> tuple[Tool, ...]:
    async def greet(given: Name) -> object:
        return f"{given.name}, this is {attempt}"

    return (Tool("greet", "Greet.", Name, greet, True),)


@asynccontextmanager
async def session(path: Path, token: str) -> AsyncIterator[ClientSession]:
    transport = httpx2.AsyncHTTPTransport(uds=str(path))
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        streamable_http_client(URL, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as opened,
    ):
        await opened.initialize()
        yield opened


async def status(path: Path, token: str) -> int:
    """The status of a plain request for the list of tools."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(path))) as http:
        return (await http.post(URL, json=body, headers=headers)).status_code


def test_each_attempt_is_reached_with_its_own_token_and_with_no_other(tmp_path: Path) -> None:
    async def reach() -> None:
        one, other = tmp_path / "one", tmp_path / "other"
        async with serving(greeting("one"), "", one, "t1"), serving(greeting("other"), "", other, "t2"):
            async with session(one, "t1") as opened:
                assert [tool.name for tool in (await opened.list_tools()).tools] == ["greet"]
                answer = await opened.call_tool("greet", {"name": "agent"})
                assert getattr(answer.content[0], "text", "") == "agent, this is one"
            assert [await status(other, token) for token in ("t1", "t", "t2")] == [401, 401, 200]

    asyncio.run(reach())


def test_a_server_without_a_caller_ends_without_having_loaded_the_library(tmp_path: Path) -> None:
    async def leave() -> None:
        async with serving(greeting("one"), "", tmp_path / "s", "t"):
            pass

    asyncio.run(leave())
