"""Measures a change: a digest of the lines that it adds and removes, and their number.

The digest leaves out what a merge onto another commit alters: the numbers and the surroundings of lines, and
the ids of files that are text. A file that is no text counts by its id.
"""

import hashlib
from collections.abc import Iterator

from interlock.git.place import Place
from interlock.git.protocol import DIFF_BYTES
from interlock.model.outcome import Measured
from interlock.model.task import Commit

_WORDS = ("-r", "-p", "-U0", "--no-renames", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color")


async def measure(place: Place, base: Commit, commit: Commit) -> Measured:
    """Measure the difference of two commits. A longer one than `DIFF_BYTES` counts as its commit alone."""
    said = await place.git.run("diff-tree", *_WORDS, "--end-of-options", base, commit, limit_bytes=DIFF_BYTES)
    return Measured(commit, -1) if said.cut else measured(said.out)


def measured(diff: bytes) -> Measured:
    """Measure a diff without lines of context, as `git diff-tree -p -U0 --full-index` prints it."""
    digest = hashlib.sha256()
    lines = 0
    is_text = True
    for is_line, text in _kept(diff):
        digest.update(text + b"\n")
        is_text = is_text and not text.startswith(b"index ")
        lines += is_line and text[:1] in (b"+", b"-")
    return Measured(digest.hexdigest(), lines if is_text else -1)


def _kept(diff: bytes) -> Iterator[tuple[bool, bytes]]:
    """Yield the lines of a diff that count, each with whether it is a line of a file."""
    is_content, ids = False, b""
    for text in diff.removesuffix(b"\n").split(b"\n"):
        if text.startswith(b"diff --git "):
            is_content = False
        if is_content:
            yield not text.startswith(b"@@"), b"@@" if text.startswith(b"@@") else text
        elif text.startswith(b"@@"):
            is_content = True
            yield False, b"@@"
        elif text.startswith(b"index "):
            ids = text
        else:
            if text.startswith(b"Binary files "):
                yield False, ids
            yield False, text
