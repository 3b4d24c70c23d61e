"""A program's output on its way: to the log at once, to a listener line by line, its end into memory."""

import os
from collections.abc import Callable
from types import TracebackType
from typing import Self

LINE_BYTES = 1024 * 1024
"""Longer lines are handed on in pieces. Agents print whole files as one line of JSON."""

TAIL_BYTES = 8 * 1024
TAIL_LINES = 100


class ProgramOutput:
    """The output of one program, on its way to the log. Its memory does not grow with the output."""

    def __init__(
        self,
        log: str,
        limit_bytes: int,
        on_line: Callable[[str], None] | None,
        clean: Callable[[str], str] | None = None,
    ) -> None:
        self.log_bytes = 0
        self._clean = clean
        self._unclean = bytearray()
        """The beginning of a line: half a secret cannot be told from other text."""
        self._limit_bytes = limit_bytes
        self._on_line = on_line
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._tail = b""
        self._line = bytearray()
        self._after_return = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._log)

    @property
    def is_full(self) -> bool:
        return self.log_bytes >= self._limit_bytes

    @property
    def tail(self) -> str:
        """The last lines; of a progress bar, what it showed last."""
        lines = self._tail.decode(errors="replace").split("\n")
        shown = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
        return "\n".join(shown[-TAIL_LINES:]).strip("\n")

    def add(self, chunk: bytes) -> None:
        """Take what came, up to the limit; the rest is dropped."""
        chunk = chunk[: self._limit_bytes - self.log_bytes]
        self.log_bytes += len(chunk)
        self._write(self._cleaned(chunk))
        if self._on_line:
            self._hand_on(chunk, self._on_line)

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(self._log, rest) :]
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]

    def _cleaned(self, chunk: bytes, last: bool = False) -> bytes:
        """Return the bytes that may be written now: whole lines, without secrets, and all else as it came."""
        if not self._clean:
            return chunk
        is_whole = last or b"\n" in chunk or len(self._unclean) + len(chunk) > LINE_BYTES
        self._unclean += chunk
        if not is_whole:
            return b""  # a program may write a long line byte by byte
        chunk = bytes(self._unclean)
        end = len(chunk) if last or len(chunk) > LINE_BYTES else chunk.rfind(b"\n") + 1
        self._unclean = bytearray(chunk[end:])
        return self._clean(chunk[:end].decode(errors="surrogateescape")).encode(errors="surrogateescape")

    def finish(self) -> None:
        """Write the rest: a last line without an end is a line too."""
        self._write(self._cleaned(b"", last=True))
        if self._line and self._on_line:
            self._on_line(self._line.decode(errors="replace"))
        self._line = bytearray()

    def _hand_on(self, chunk: bytes, on_line: Callable[[str], None]) -> None:
        """CR, LF and CRLF each end a line, so that a progress bar is seen moving."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_return = chunk.endswith(b"\r")
        has_end = b"\n" in chunk or b"\r" in chunk
        self._line += chunk
        if not has_end and len(self._line) <= LINE_BYTES:
            return
        pieces = bytes(self._line).splitlines(keepends=True)
        self._line = bytearray()
        for piece in pieces:
            line = piece.rstrip(b"\r\n")
            while len(line) > LINE_BYTES:
                on_line(line[:LINE_BYTES].decode(errors="replace"))
                line = line[LINE_BYTES:]
            if piece.endswith((b"\r", b"\n")):
                on_line(line.decode(errors="replace"))
            else:
                self._line = bytearray(line)
