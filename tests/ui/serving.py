"""`interlock serve` as a process, and a client that sends what it is told to send."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # Any: whatever the route gives
        return json.loads(self.body)


@dataclass(slots=True)
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    url: str
    token: str

    @property
    def place(self) -> str:
        """The server's host and port."""
        return urlsplit(self.url).netloc

    def send(self, method: str, path: str, body: object = None, /, **headers: str) -> Answer:
        """A request with exactly these headers (`_` for `-`), and none of a browser's."""
        with self.asking(method, path, body, **headers) as response:
            return Answer(response.status, dict(response.getheaders()), response.read())

    @contextmanager
    def asking(
        self, method: str, path: str, body: object = None, /, **headers: str
    ) -> Iterator[HTTPResponse]:
        """The same, with the answer as it comes."""
        connection = HTTPConnection(self.place, timeout=PATIENCE_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, data, sent)
            yield connection.getresponse()
        finally:
            connection.close()

    def get(self, path: str) -> Any:  # Any: whatever the route gives
        answer = self.send("GET", path, Authorization=f"Bearer {self.token}")
        assert answer.status == 200, (path, answer)
        return answer.json

    def post(self, path: str, /, **body: object) -> Answer:
        return self.send("POST", path, body, Authorization=f"Bearer {self.token}")

    @contextmanager
    def stream(self, cursor: str) -> Iterator["Stream"]:
        headers = {"Authorization": f"Bearer {self.token}", "Last_Event_ID": cursor}
        with self.asking("GET", "/api/stream", **headers) as response:
            assert response.status == 200
            yield Stream(response)


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    name: str
    id: str
    data: Any
    """Any: JSON."""


@dataclass(slots=True)
class Stream:
    """Server-sent events as they come."""

    response: HTTPResponse

    def next(self, *names: str) -> Event:
        """The next event of these kinds; any without."""
        while True:
            found = self._read()
            if not names or found.name in names:
                return found

    def _read(self) -> Event:
        fields: dict[str, str] = {}
        while True:
            line = self.response.readline().decode()
            assert line, "the stream ended"
            if line == "\n" and "event" in fields:
                return Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value


@contextmanager
def serving(root: Path, *words: str) -> Iterator[Server]:
    """`interlock serve` of a project, until the block ends."""
    argv = [sys.executable, "-m", "interlock", "serve", "--json", *words]
    process = subprocess.Popen(
        argv, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said = json.loads(line)
        yield Server(process, said["address"], said["token"])
    finally:
        process.terminate()
        process.communicate()
