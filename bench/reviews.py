"""A change that waits for review: how soon a person hears of it, and how soon their click reaches an agent.

The engine, the server, the webhook and the agent are real processes; the agent is a shell script, so that its
own work takes no time.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bench.scratch import scratch_repository
from bench.serve import Client, serving
from bench.table import Row, percentile

Found = TypeVar("Found")
TITLE = "reviews: from a change to a person, and back to its agent"
ROUNDS = 40
PATIENCE_SECONDS = 120.0
KEY = "BENCH_HOOK_KEY"
GRAPH = """\
version: 1
defaults: {agent: shell, verify: "true", review: required, timeout: 10m}
agents: {shell: {use: command, run: [sh, agent.sh]}}
tasks:
  asked: {goal: Make a change}
  other: {goal: Keep the run alive, review: none, timeout: 2h}
"""
AGENT = """\
if [ "$INTERLOCK_TASK_ID" = other ]; then while :; do sleep 1; done; fi
date +%s.%N
echo "$INTERLOCK_ATTEMPT" > asked.txt
"""


def measure(short: bool) -> list[Row]:
    """The change is rejected again and again; a short one does it a few times."""
    rounds = 4 if short else ROUNDS
    with tempfile.TemporaryDirectory() as folder, _receiving() as told:
        root = scratch_repository(Path(folder), GRAPH, {"agent.sh": AGENT})
        env = _person(Path(folder), told)
        with _running(root, env), serving(root) as (_, client):
            waits = [_round(root, client, told, number) for number in range(1, rounds + 1)]
    noticed, prompted = zip(*waits, strict=True)
    return [
        *_rows(f"from the review to the webhook, {rounds} times", noticed, 2.0),
        *_rows(f"from the click to the agent's next prompt, {rounds} times", prompted, 5.0),
    ]


def _rows(name: str, waits: tuple[float, ...], most: float) -> Iterator[Row]:
    yield Row(f"{name}: median", percentile(waits, 0.5), "s")
    yield Row(f"{name}: 99 of 100", percentile(waits, 0.99), "s", target=most)


class Told(dict[int, float]):
    """The time at which each fact was told to the webhook, and where that is."""

    url = ""


@contextmanager
def _receiving() -> Iterator[Told]:
    told = Told()

    class Answers(BaseHTTPRequestHandler):
        """The person's webhook."""

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.update({notice["seq"]: time.time() for notice in message["notices"]})
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    told.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


def _person(folder: Path, told: Told) -> dict[str, str]:
    """The environment of a person whose own settings name the webhook."""
    settings = folder / "config/interlock"
    settings.mkdir(parents=True)
    named = {"notify_webhook": told.url, "notify_webhook_key": KEY, "notify_every": "0s"}
    (settings / "config.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in named.items()))
    own = {"XDG_CONFIG_HOME": str(folder / "config"), "INTERLOCK_TRUST_FOLDERS": str(folder), KEY: "a key"}
    return {**os.environ, **own}


@contextmanager
def _running(root: Path, env: dict[str, str]) -> Iterator[None]:
    argv = [sys.executable, "-m", "interlock", "run", "--no-input"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(argv, cwd=root, env=env, stdout=quiet, stderr=quiet) as process:
        try:
            _until((root / ".git/interlock/log.db").exists)
            yield
        finally:
            process.terminate()


def _round(root: Path, client: Client, told: Told, attempt: int) -> tuple[float, float]:
    """Wait for a review, reject the change, and wait for the next attempt: the two times."""
    review = _until(lambda: _review(client, attempt))
    asked = _until(lambda: next((seq for seq in told if seq >= review["seq"]), 0))
    clicked = time.time()
    _post(client, "/api/actions/reject", {"task": "asked", "note": f"once more, after {attempt}"})
    log = root / f".git/interlock/logs/asked/{attempt + 1}.log"
    began = _until(lambda: _began(log))
    return told[asked] - review["time"], began - clicked


def _review(client: Client, attempt: int) -> dict[str, Any]:  # Any: parsed JSON
    """The fact with which this attempt's change began to wait."""
    rows = json.loads(client.get("/api/events?limit=1000")[1])["events"]
    found = [row for row in rows if row["kind"] == "ReviewOpened" and row["fact"]["attempt"] == attempt]
    return found[0] if found else {}


def _began(log: Path) -> float:
    """The time at which the agent began, by its own word; 0: it has not."""
    try:
        lines = log.read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return next((float(line) for line in lines if line[:1].isdigit() and "." in line), 0.0)


def _post(client: Client, path: str, body: object) -> None:
    connection = HTTPConnection(urlsplit(client.url).netloc, timeout=PATIENCE_SECONDS)
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    assert answer.status == 200, said


def _until(look: Callable[[], Found]) -> Found:
    """What it finds, once it finds something."""
    began = time.perf_counter()
    while not (found := look()):
        assert time.perf_counter() - began < PATIENCE_SECONDS
        time.sleep(0.01)  # noqa: TID251 - other processes work meanwhile
    return found
