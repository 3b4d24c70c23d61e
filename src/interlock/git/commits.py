"""Commit objects as text, so that no git has to run to word one."""

import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from interlock.git.command import COMMITTER
from interlock.git.place import Place

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""Characters that git strips from both ends of a name."""


def commit_text(place: Place, tree: str, parents: Sequence[str], message: str) -> bytes:
    """A commit of now, by the author of this place."""
    now = time.time()
    stamp = f"{int(now)} {time.strftime('%z', time.localtime(now))}"
    return "\n".join(
        [
            f"tree {tree}",
            *(f"parent {parent}" for parent in parents),
            f"author {_person(*place.author)} {stamp}",
            f"committer {_person(*COMMITTER)} {stamp}",
            "",
            message,
        ]
    ).encode("utf-8", "surrogateescape")


def write_commit(objects: Path, place: Place, content: bytes) -> str:
    """Put a commit into an object store of our own: one that no power cut has to spare. Its id."""
    commit = place.object_id("commit", content)
    loose = objects / commit[:2] / commit[2:]
    loose.parent.mkdir(exist_ok=True)
    fresh = loose.with_suffix(".new")
    fresh.write_bytes(zlib.compress(f"commit {len(content)}\0".encode() + content, 1))
    fresh.replace(loose)
    return commit


def _person(name: str, email: str) -> str:
    return f"{_plain(name) or COMMITTER[0]} <{_plain(email)}>"


def _plain(text: str) -> str:
    """Remove the characters that would end a name or an address early."""
    return text.strip(_CRUD).translate({ord(sign): None for sign in "<>\n"})
