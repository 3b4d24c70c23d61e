"""A model server that answers from a list, in turn, and keeps what it was asked."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Json = dict[str, Any]  # requests and answers, written and read by the tests themselves


@dataclass(frozen=True)
class Answer:
    """One response, as it goes over the wire."""

    body: bytes = b""
    status: int = 200
    length: int | None = None
    """What it claims about its length, if that is not true."""
    hang: bool = False
    headers: dict[str, str] = field(default_factory=dict)


def say(text: str) -> Answer:
    return openai({"role": "assistant", "content": text})


def call(name: str, **arguments: object) -> Answer:
    return raw_call(name, json.dumps(arguments))


def raw_call(name: str, arguments: str) -> Answer:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return openai({"role": "assistant", "content": None, "tool_calls": calls})


def openai(message: Json) -> Answer:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}}
    return Answer(json.dumps({"choices": [{"message": message}], "usage": usage}).encode())


def ollama(text: str, **calls: Json) -> Answer:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls.items()]
    message = {"role": "assistant", "content": text, "tool_calls": made}
    answer = {"message": message, "done": True, "prompt_eval_count": 100, "eval_count": 5}
    return Answer(json.dumps(answer).encode())


def refuse(status: int, text: str = "no", **headers: str) -> Answer:
    return Answer(text.encode(), status, headers=headers)


@dataclass
class Model:
    """A running server: where it is, and what it was asked."""

    url: str
    asked: list[Json] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def told(self, index: int) -> str:
        """The text of all messages of one request."""
        return "\n".join(str(message["content"]) for message in self.asked[index]["messages"])


@contextmanager
def serving(answers: Sequence[Answer]) -> Iterator[Model]:
    """The last answer is given again and again."""
    model = Model("")
    enough = Event()

    class Asked(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = answers[min(len(model.asked), len(answers) - 1)]
            model.asked.append(json.loads(body))
            model.paths.append(self.path)
            model.tokens.append(self.headers["Authorization"])
            if answer.hang:
                enough.wait(60)
                return
            self.send_response(answer.status)
            length = len(answer.body) if answer.length is None else answer.length
            self.send_header("Content-Length", str(length))
            for name, value in answer.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        enough.set()
        server.shutdown()
        thread.join()
        server.server_close()
