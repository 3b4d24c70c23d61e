"""Cuts bytes into the JSON values they carry: server-sent events, a value per line, or one value."""

from collections.abc import Iterator
from enum import Enum

from interlock.proxy.json_values import parsed

LINE_BYTES = 16 * 1024 * 1024
"""Longer lines are passed on to the program, and not counted."""


class Form(Enum):
    EVENTS = "text/event-stream"
    LINES = "application/x-ndjson"
    WHOLE = "application/json"


def form_of(content_type: str) -> Form:
    bare = content_type.partition(";")[0].strip().lower()
    return next((form for form in Form if form.value == bare), Form.WHOLE)


class JsonStream:
    """Takes chunks cut anywhere, gives values. A value that is not JSON comes out as None."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._line = bytearray()
        self._fields: list[bytes] = []
        self._too_long = False

    @property
    def is_whole(self) -> bool:
        """Tell if there is one value, which is not known before its last byte."""
        return self._form == Form.WHOLE

    def feed(self, chunk: bytes) -> Iterator[object]:
        if self._form == Form.WHOLE:
            self._keep(chunk)
            return
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._keep(part)
            yield from self._take_line()
        self._keep(rest)

    def finish(self) -> Iterator[object]:
        """Take the end of the answer."""
        if self._form != Form.WHOLE:
            yield from self._take_line()
            yield from self._take_event()
        elif self._too_long:
            yield None
        elif self._line.strip():
            yield from self._whole(bytes(self._line))

    def _whole(self, text: bytes) -> Iterator[object]:
        """One value; or a stream that was announced as something else."""
        value = parsed(text)
        if value is None and text.lstrip().startswith((b"data:", b"event:", b":")):
            events = JsonStream(Form.EVENTS)
            yield from (*events.feed(text), *events.finish())
        elif value is None and b"\n" in text.strip():
            yield from (parsed(line) for line in text.splitlines() if line.strip())
        else:
            yield value

    def _keep(self, part: bytes) -> None:
        if len(self._line) + len(part) > LINE_BYTES:
            self._too_long = True
            self._line.clear()
        elif not self._too_long:
            self._line += part

    def _take_line(self) -> Iterator[object]:
        line, too_long = bytes(self._line).rstrip(b"\r"), self._too_long
        self._line.clear()
        self._too_long = False
        if too_long:
            yield None
        elif self._form == Form.LINES:
            if line.strip():
                yield parsed(line)
        elif line.startswith(b"data:"):
            self._fields.append(line.removeprefix(b"data:").removeprefix(b" "))
        elif not line:
            yield from self._take_event()
        elif b":" not in line:
            # A field without a colon is legal and unused; what stands here otherwise is garbage.
            yield None

    def _take_event(self) -> Iterator[object]:
        fields, self._fields = b"\n".join(self._fields), []
        if fields and fields != b"[DONE]":
            yield parsed(fields)
