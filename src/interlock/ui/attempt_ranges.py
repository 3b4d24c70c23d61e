"""A part of a file of an attempt, from one place to another: a log may be gigabytes, an answer may not."""

from dataclasses import dataclass
from pathlib import Path

from interlock.model.errors import UsageError
from interlock.ui.attempt_files import open_regular

MOST_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some bytes of a file as text."""

    size: int
    """Bytes that the file has now."""
    offset: int
    next: int
    """Where the next part begins; at the end of the file, where more may come."""
    text: str
    """Whole lines, unless one is longer than what was asked for."""


def read_part(path: Path, folder: Path, offset: int, limit: int) -> FilePart:
    """Read from `offset`; one below 0 counts from the end. The file must be in the folder, or not there."""
    if "\0" in str(path) or not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{path} is not a file of Interlock", "interlock gc --dry-run")
    try:
        with open_regular(path) as file:
            size = path.stat().st_size
            start = max(0, size + offset) if offset < 0 else min(offset, size)
            file.seek(start)
            data = file.read(min(limit, MOST_BYTES))
    except FileNotFoundError:
        return FilePart(0, 0, 0, "")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "interlock doctor") from None
    if offset < 0 and start and (line := data.find(b"\n")) >= 0:
        start, data = start + line + 1, data[line + 1 :]  # the line in which it begins is not whole
    if start + len(data) < size or not data.endswith(b"\n"):
        whole = data.rfind(b"\n") + 1
        data = data[: whole or len(_whole_characters(data))]
    return FilePart(size, start, start + len(data), data.decode("utf-8", "replace"))


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a character whose rest is in the next part."""
    for cut in range(1, min(4, len(data)) + 1):
        if data[-cut] >= 0xC0:
            length = 2 if data[-cut] < 0xE0 else 3 if data[-cut] < 0xF0 else 4
            return data[:-cut] if length > cut and cut < len(data) else data
        if data[-cut] < 0x80:
            return data
    return data
