"""A chain of agents whose first model servers are down, through the real command (A7, P2)."""

import json
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


class Writer(BaseHTTPRequestHandler):
    """A model that writes one file and is done, for any number of sessions at once."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message: dict[str, object] = {"role": "assistant", "content": "Done."}
        is_done = any(said["role"] == "tool" for said in asked["messages"])
        if not is_done:
            words = json.dumps({"command": 'echo x > "$INTERLOCK_TASK_ID.txt"'})
            calls = [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": words}}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        finish = "stop" if is_done else "tool_calls"
        body = json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Tests are quiet."""


@contextmanager
def serving(port: int) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", port), Writer)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_ports(count: int) -> list[int]:
    """Nothing listens at them: a moment ago they were free."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def graph(scratch: Scratch, ports: dict[str, int], tasks: int) -> None:
    agents = "".join(
        f'  {name}: {{use: built-in, url: "http://127.0.0.1:{port}/v1", model: tiny}}\n'
        for name, port in ports.items()
    )
    work = "".join(f"  t{number}: {{goal: Do}}\n" for number in range(tasks))
    text = f"version: 1\ndefaults: {{agent: [{', '.join(ports)}]}}\nagents:\n{agents}tasks:\n{work}"
    scratch.write(**{"task-graph__yaml": text})
    scratch.commit("work to do")


def attempts(scratch: Scratch) -> Counter[tuple[str, str]]:
    started = [row["fact"] for row in scratch.facts("PhaseStarted")]
    return Counter((fact["task"], fact["agent"]) for fact in started if fact["phase"] == "implement")


def test_servers_that_are_down_cost_no_attempt_and_one_line_each(scratch: Scratch) -> None:
    ports = dict(zip(("ollama", "localai", "cloud"), free_ports(3), strict=True))
    graph(scratch, ports, tasks=4)
    with serving(ports["cloud"]):
        said = scratch.interlock("run", "--max-parallel", "2")
    assert attempts(scratch) == {(f"t{number}", "cloud"): 1 for number in range(4)}
    assert said.count("refuses calls") == said.count("127.0.0.1:") / 2 == 2
    for name in ("ollama", "localai"):
        assert f"the model at 127.0.0.1:{ports[name]} cannot be reached: connection refused" in said


def test_a_run_whose_only_server_is_down_waits_and_goes_on_when_it_listens(scratch: Scratch) -> None:
    (port,) = free_ports(1)
    graph(scratch, {"local": port}, tasks=1)
    run = scratch.start("run")
    run.wait_for_line("refuses calls")
    assert "takes nothing for now" in scratch.interlock("explain", "t0")
    with serving(port):
        assert run.wait() == 0
    assert attempts(scratch) == {("t0", "local"): 1}
    assert scratch.facts("ProviderBraked")[-1]["fact"]["until"] == 0.0
