"""JSON-RPC 2.0, one message a line: what came in, what goes out, and who waits for which answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel

from interlock.agents.json_lines import Json, read_object
from interlock.model.session import Event

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
AUTH_REQUIRED = -32000
"""The protocol's own."""

Heard = Callable[[object], list[Event]]
Failed = Callable[[Json], list[Event]]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message of the agent: a request (`id` and `method`), notification (`method`) or response (`id`)."""

    id: object = None
    method: str = ""
    params: object = None
    result: object = None
    error: Json = field(default_factory=Json)


def read(line: str) -> Incoming | None:
    """The message in a line; None for anything else: what programs write to stderr comes here too."""
    start = line.find('{"')
    said = read_object(line[start:]) if start >= 0 else None
    if said is None or said.text("jsonrpc") != "2.0":
        return None
    return Incoming(
        said.at("id"), said.text("method"), said.at("params"), said.at("result"), said.item("error")
    )


class Connection:
    """The connection to the agent. Messages wait in `out` until the caller sends them."""

    def __init__(self, last_id: int) -> None:
        self.out: list[str] = []
        self._last_id = last_id
        self._waiting: dict[int, tuple[Heard, Failed]] = {}

    def ask(self, method: str, params: BaseModel, heard: Heard, failed: Failed) -> None:
        """A request, and what to do when it is answered."""
        self._last_id += 1
        self.expect(self._last_id, heard, failed)
        self.out.append(request(self._last_id, method, params))

    def expect(self, id: int, heard: Heard, failed: Failed) -> None:
        self._waiting[id] = (heard, failed)

    def hear(self, answer: Incoming) -> list[Event]:
        """Take an answer; one to no request is ignored."""
        if not isinstance(answer.id, int) or answer.id not in self._waiting:
            return []
        heard, failed = self._waiting.pop(answer.id)
        return failed(answer.error) if answer.error else heard(answer.result)

    def respond(self, id: object, result: BaseModel) -> None:
        self.out.append(_line({"id": id, "result": _dumped(result)}))

    def refuse(self, id: object, code: int, message: str) -> None:
        self.out.append(_line({"id": id, "error": {"code": code, "message": message}}))


def request(id: int, method: str, params: BaseModel) -> str:
    return _line({"id": id, "method": method, "params": _dumped(params)})


def _dumped(message: BaseModel) -> object:
    return message.model_dump(mode="json", by_alias=True, exclude_none=True)


def _line(message: dict[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}) + "\n"
