"""Reads what `git merge-tree -z` says of a conflict, and makes trees in which it is resolved."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from interlock.git.command import Git, Output
from interlock.git.files import SCRATCH
from interlock.git.place import Place
from interlock.model.outcome import Clash, Merge
from interlock.model.task import Tree

_SHOWN_PATHS = 5
_SHOWN_LINES = 60
_PLAIN = ("100644", "100755")
_NO_NEWS = b"Auto-merging"
_IN_CONTENT = (_NO_NEWS, b"CONFLICT (contents)", b"CONFLICT (binary)")
"""Kinds of messages about files that are the same file on both sides."""


class Content(NamedTuple):
    """A file of a tree."""

    mode: str
    object_id: str


def tree_of(said: Output) -> Tree:
    """The merged tree, whole or with conflict markers."""
    return Tree(said.out.split(b"\0", 1)[0].decode())


async def conflict_of(git: Git, said: Output) -> Merge:
    """The files that clash, what git says about each, and the clashing lines of the first few."""
    head, _, rest = said.out.partition(b"\0\0")
    stages: dict[bytes, dict[str, Content]] = {}
    for entry in head.split(b"\0")[1:]:
        words, _, path = entry.partition(b"\t")
        mode, object_id, stage = words.decode().split(" ")
        stages.setdefault(path, {})[stage] = Content(mode, object_id)
    paths = tuple(map(_decoded, stages))
    told = _messages(rest)
    shown = [await _hunks(git, tree_of(said), path) for path in paths[:_SHOWN_PATHS]]
    text = "".join([*(_decoded(sentence) for kind, sentence in told if kind != _NO_NEWS), *shown])
    clashes = [_clash(path, sides) for path, sides in stages.items()]
    whole = tuple(clash for clash in clashes if clash)
    if len(whole) < len(clashes) or any(kind not in _IN_CONTENT for kind, _ in told):
        return Merge(None, paths, text)
    return Merge(None, paths, text, tree_of(said), whole)


def _clash(path: bytes, sides: Mapping[str, Content]) -> Clash | None:
    """Return the clash at a path; None if it is not about two versions of a plain file."""
    ours, theirs, base = sides.get("2"), sides.get("3"), sides.get("1")
    if ours is None or theirs is None or any(side.mode not in _PLAIN for side in sides.values()):
        return None
    try:
        name = path.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return Clash(name, ours.mode, base.object_id if base else "", ours.object_id, theirs.object_id)


def _messages(rest: bytes) -> list[tuple[bytes, bytes]]:
    """Each is a count, that many paths, a short type and a sentence."""
    words = rest.split(b"\0")
    found, at = [], 0
    while at < len(words) and words[at].isdigit():
        at += 1 + int(words[at])
        kind, sentence = words[at : at + 2]
        found.append((kind, sentence))
        at += 2
    return found


async def _hunks(git: Git, tree: Tree, path: str) -> str:
    said = await git.run("cat-file", "blob", f"{tree}:{path}", ok=(0, 128), limit_bytes=1 << 20)
    inside, lines = False, list[str]()
    for line in _decoded(said.out).splitlines():
        inside = inside or line.startswith("<<<<<<< ")
        if inside:
            lines.append(line)
        inside = inside and not line.startswith(">>>>>>> ")
    more = [f"[{len(lines) - _SHOWN_LINES} more lines]"] if len(lines) > _SHOWN_LINES else []
    return f"\n{path}:\n" + "\n".join([*lines[:_SHOWN_LINES], *more]) + "\n" if lines else ""


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


async def write_blob(place: Place, content: bytes) -> str:
    """Store the content of a file; its id."""
    return (await place.git.run("hash-object", "-w", "--stdin", feed=content)).line


async def with_contents(place: Place, tree: Tree | None, files: Mapping[str, Content]) -> Tree:
    """The tree with other content at these paths; without a tree, one with just these files."""
    feed = b"".join(f"{file.mode} {file.object_id}\t{path}\0".encode() for path, file in files.items())
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        aside = place.git.having(GIT_INDEX_FILE=str(Path(folder, "index")))
        await aside.run("read-tree", tree or "--empty")
        await aside.run("update-index", "--add", "-z", "--index-info", feed=feed)
        return Tree((await aside.run("write-tree")).line)
