"""What a look at a model server tells, and what it leaves open (A7)."""

import asyncio
import socket
import subprocess
import sys

import pytest

from interlock.proxy.brake.server_check import problem_of


def test_a_server_that_listens_has_no_problem() -> None:
    async def look() -> str:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            return await problem_of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")

    assert asyncio.run(look()) == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_refused_connection_is_told_also_of_a_name_with_several_addresses(host: str) -> None:
    with socket.socket() as bound:  # bound, and not listening: no other process gets the port meanwhile
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        said = asyncio.run(problem_of(f"http://{host}:{port}/v1"))
    assert said == f"the model at {host}:{port} cannot be reached: connection refused"


def test_a_name_that_cannot_be_looked_up_tells_nothing() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(problem_of("http://no-such-host.invalid:80/v1"))


def test_a_run_without_a_server_of_its_own_does_not_wait_for_the_web_client_to_load() -> None:
    look = (
        "import asyncio, sys; from interlock.proxy.brake.server_check import ServerCheck; "
        "asyncio.run(ServerCheck(None, {}).check({})); print('aiohttp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
