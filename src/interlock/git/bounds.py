"""The most that the host takes from one attempt. What is larger is refused with a sentence that says so.

A dozen git objects can describe a billion files, and a file of a terabyte can take no room at all: so what
an agent made is counted before anything on the host reads or expands it.
"""

from interlock.model.errors import RejectedObjects

FILES = 200_000
"""Files in one change."""
ENTRIES = 1_000_000
"""Files and folders in one folder of an attempt, ignored ones too."""
DEPTH = 200
"""Folders inside folders. Python's own recursion ends at 1,000, that of older git versions at the stack."""
NAME_BYTES = 255
"""The limit of common file systems."""
PATH_BYTES = 2048
"""Linux takes 4,095 with the folder before it, and a checkout can be anywhere."""
CONTENT_BYTES = 2 << 30
"""All files of a change as they are read, not as they lie on the disk."""
COMMITS = 2_000
COMMIT_BYTES = 1 << 20
"""One commit with its message."""
REFS = 2_000
"""Branches and tags that are looked at; more of them stay in the attempt's folder."""
TREE_BYTES = 64 << 20
"""All lists of names together."""

MEMORY_BYTES = 2 << 30
"""Memory of one git process on the host. Packs that it maps do not count."""
CPU_SECONDS = 120
"""CPU time of one git process that reads what an agent made."""
OUTPUT_BYTES = 256 << 20
"""Output of one git process."""

_SHOWN = 60


def too_large(what: str, limit: str) -> RejectedObjects:
    return RejectedObjects(f"the attempt is too large to import: {what}; the limit is {limit}")


def check_path(path: str | bytes, depth: int) -> None:
    """Refuse a path that a checkout may not be able to hold. `depth`: folders above it."""
    whole = path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape")
    if depth > DEPTH:
        raise too_large(f"{shown(whole)} is {depth:,} folders deep", f"{DEPTH:,} folders")
    if (length := len(whole.rpartition(b"/")[2])) > NAME_BYTES:
        raise too_large(f"a file name has {length:,} bytes: {shown(whole)}", f"{NAME_BYTES:,} bytes")
    if len(whole) > PATH_BYTES:
        raise too_large(f"a path has {len(whole):,} bytes: {shown(whole)}", f"{PATH_BYTES:,} bytes")


def check_content(total: int, largest: str, size: int) -> None:
    """Refuse files that take too long to read."""
    if total > CONTENT_BYTES:
        what = f"its files hold {_gib(total)}, {shown(largest)} alone {_gib(size)}"
        raise too_large(what, _gib(CONTENT_BYTES))


def check_files(count: int) -> None:
    if count > FILES:
        raise too_large(f"there are {count:,} files in one change", f"{FILES:,} files")


def shown(path: str | bytes) -> str:
    """A path that may be long and strange, for a sentence."""
    text = path.decode("utf-8", "backslashreplace") if isinstance(path, bytes) else path
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _gib(size: int) -> str:
    return f"{size / (1 << 30):,.1f} GiB"
