"""A provider on loopback that takes so many calls at once, and fewer after a while; and agents that call it.

Nobody tells the agents, or Interlock, what it takes. Serves the chat protocol.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AGENT = """\
import json, os, pathlib, sys, urllib.error, urllib.request

CALLS, TRIES = int(sys.argv[1]), 6
base, key, task = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], os.environ["INTERLOCK_TASK_ID"]
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "go on"}]}).encode()
headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
for number in range(CALLS):
    for tried in range(TRIES):
        asked = urllib.request.Request(base + "/chat/completions", body, headers)
        try:
            json.load(urllib.request.urlopen(asked))
            break
        except urllib.error.HTTPError as refused:
            print("call", number, refused.code, flush=True)
            if refused.code != 429 or tried == TRIES - 1:
                raise
            import select
            select.select([], [], [], 0.2 * 2 ** tried)
pathlib.Path(task + ".txt").write_text("made with %d calls\\n" % CALLS)
"""
"""As programs do it: a refused call is made again after a while that doubles, and a few times only."""


@dataclass
class HiddenLimit:
    """What the provider takes, by how many calls it has answered; and what it has seen."""

    places: Callable[[int], int]
    call_seconds: float
    under_way: int = 0
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> bool:
        with self.lock:
            if self.under_way >= self.places(len(self.answered)):
                self.refused.append(time.monotonic())
                return False
            self.under_way += 1
            return True

    def stay(self, over: threading.Event) -> None:
        """A call is under way."""
        over.wait(self.call_seconds)

    def leave(self) -> None:
        with self.lock:
            self.under_way -= 1
            self.answered.append(time.monotonic())

    @property
    def refused_per_100(self) -> float:
        """Of all requests."""
        return 100 * len(self.refused) / max(1, len(self.answered) + len(self.refused))


@contextmanager
def serving(limit: HiddenLimit) -> Iterator[str]:
    """The address of the provider, for as long as this lasts."""
    pause = threading.Event()

    class Asked(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if not limit.enter():
                return self._say(429, {"error": {"message": "slow down", "type": "rate_limit_exceeded"}})
            limit.stay(pause)
            limit.leave()
            answer = {"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 20}
            return self._say(200, {"choices": [answer], "usage": usage})

        def _say(self, status: int, body: object) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        pause.set()
        server.shutdown()
        server.server_close()
        thread.join()


def graph_of(url: str, agents: int, calls: int) -> str:
    """A task for each agent, all on one credential."""
    lines = "".join(f"  talk-{number}: {{goal: Ask}}\n" for number in range(agents))
    return (
        "version: 1\ndefaults: {agent: caller, retries: 3, timeout: 3m}\nagents:\n"
        f'  caller: {{use: command, run: [python3, agent.py, "{calls}"], wire: openai, url: "{url}", '
        f"key_env: BENCH_KEY}}\ntasks:\n{lines}"
    )
