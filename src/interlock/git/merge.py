"""Reads what `git merge-tree -z --name-only` says, and shows an agent where it clashed."""

from interlock.git.command import Git, Output
from interlock.model.outcome import Merge
from interlock.model.task import Tree

_SHOWN_PATHS = 5
_SHOWN_LINES = 60


def tree_of(said: Output) -> Tree:
    """The merged tree, whole or with conflict markers."""
    return Tree(said.out.split(b"\0", 1)[0].decode())


async def conflict_of(git: Git, said: Output) -> Merge:
    """The paths that clash, what git says about each, and the clashing lines of the first few."""
    head, _, rest = said.out.partition(b"\0\0")
    paths = tuple(dict.fromkeys(_text(path) for path in head.split(b"\0")[1:]))
    shown = [await _hunks(git, tree_of(said), path) for path in paths[:_SHOWN_PATHS]]
    return Merge(None, paths, "".join([*_messages(rest), *shown]))


def _messages(rest: bytes) -> list[str]:
    """Each is a count, that many paths, a short type and a sentence. Auto-merges are no news."""
    words = rest.split(b"\0")
    found, at = [], 0
    while at < len(words) and words[at].isdigit():
        at += 1 + int(words[at])
        kind, sentence = words[at : at + 2]
        if kind != b"Auto-merging":
            found.append(_text(sentence))
        at += 2
    return found


async def _hunks(git: Git, tree: Tree, path: str) -> str:
    said = await git.run("cat-file", "blob", f"{tree}:{path}", ok=(0, 128), limit_bytes=1 << 20)
    inside, lines = False, list[str]()
    for line in _text(said.out).splitlines():
        inside = inside or line.startswith("<<<<<<< ")
        if inside:
            lines.append(line)
        inside = inside and not line.startswith(">>>>>>> ")
    more = [f"[{len(lines) - _SHOWN_LINES} more lines]"] if len(lines) > _SHOWN_LINES else []
    return f"\n{path}:\n" + "\n".join([*lines[:_SHOWN_LINES], *more]) + "\n" if lines else ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
