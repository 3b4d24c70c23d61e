"""One provider dies mid-way, the next has no quota left, the third finishes: the story and its cost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.agents.model_server.running import running_model
from tests.engine.scratch import WAIT, Scratch
from tests.ui.test_usage_counted import PRICES, assert_same, counted_by, told

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
RESET_SECONDS = 3_000


class UsedUp(BaseHTTPRequestHandler):
    """A provider whose quota is used up until a time that it names."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        error = {
            "message": "You exceeded your current quota",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        }
        body = json.dumps({"error": error}).encode()
        self.send_response(429)
        self.send_header("Retry-After", str(RESET_SECONDS))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Tests are quiet."""


@contextmanager
def used_up() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), UsedUp)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_third_provider_finishes_and_the_story_is_told(scratch: Scratch) -> None:
    wait = f"echo waits-t; {WAIT.format(gate=scratch.gates / 't')}"
    script = (
        {"op": "write", "path": "t.txt", "content": "t\n"},
        {"op": "shell", "command": wait},
        {"op": "say", "text": "All done."},
    )
    with running_model() as first, used_up() as port, running_model() as third:
        for model in (first, third):
            model.add_script("t", script)
        urls = {"first": first.url("t"), "second": f"http://127.0.0.1:{port}", "third": third.url("t")}
        agents = "".join(
            f"  {name}: {{use: built-in, url: '{url}/v1', model: tiny}}\n" for name, url in urls.items()
        )
        order = f"defaults: {{agent: [{', '.join(urls)}]}}\n"
        text = f"version: 1\n{order}agents:\n{agents}tasks:\n  t: {{goal: Do}}\n"
        scratch.write(interlock__toml=f'model_hold = "1s"\n{PRICES}', **{"task-graph__yaml": text})
        scratch.commit()
        running = scratch.start("run", "--no-input")
        first.wait_for_calls("t", 2)
        scratch.wait_for_output("t", "waits-t")
        first.close()
        (scratch.gates / "t").touch()
        assert running.wait() == 0, running.output

        starts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
        assert [fact["agent"] for fact in starts] == ["first", "second", "third"]
        assert [fact["attempt"] for fact in starts] == [1, 2, 3]
        assert len(scratch.facts("Landed")) == 1
        assert (len(first.calls("t")), len(third.calls("t"))) == (2, 3)
        counted = counted_by(first, "t") + counted_by(third, "t")
        failed_calls = 2  # one found no server, and one no quota
        assert_same(told(scratch.status()), replace(counted, calls=counted.calls + failed_calls))

    story = scratch.interlock("explain", "t")
    assert "given to third: the model of first is closed" in story
    assert "cannot be reached: connection refused" in story
    assert "attempts 1 to 2 waited" in story
    assert "exceeded your current quota" in story
    assert "attempt 3: landed" in story
