"""The files that the latest commits of the branch changed together.

Rules:
1. A merge counts as one change, as a task that lands does: only first parents are followed.
2. A commit without a parent brings everything at once. It does not say which files belong together.
"""

from collections.abc import Iterator

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.model.history import PastCommit
from interlock.model.task import Commit

COMMITS_MOST = 200
"""Older ones tell about a tree that is no more, and git takes a while for each in a large repository."""
_OUTPUT_BYTES = 16 << 20
_TIMEOUT_SECONDS = 10.0
_WORDS = (
    *("--first-parent", "--diff-merges=first-parent", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--name-status", "-z", "--format=%x01%H %P", f"--max-count={COMMITS_MOST}"),
)


async def read_changes(git: Git, ref: str) -> tuple[PastCommit, ...]:
    """The latest changes of a branch, oldest first; none if git cannot list them in time."""
    try:
        said = await git.run("log", *_WORDS, ref, "--", limit_bytes=_OUTPUT_BYTES, timeout=_TIMEOUT_SECONDS)
    except GitFailed:
        return ()
    found = list(_parsed(said.items))
    return tuple(reversed(found[:-1] if said.cut else found))


def _parsed(items: tuple[str, ...]) -> Iterator[PastCommit]:
    name, paths, has_parent = "", list[str](), False
    words = iter((*items, "\x01 "))
    for word in words:
        text = word.lstrip("\n")
        if not text.startswith("\x01"):
            paths += [next(words)] if text else []  # after the letter that says how it changed
            continue
        if has_parent and paths:
            yield PastCommit(Commit(name), tuple(sorted(paths)))
        name, _, parents = text[1:].partition(" ")
        paths, has_parent = [], bool(parents)
