"""Finds proposed commits on the protected branch, as a person or a forge merged, squashed or rebased them."""

from interlock.git.place import Place
from interlock.git.protocol import Rewritten
from interlock.model.task import Commit, Tree

_COMMITS = 200
"""The most commits of the branch that are compared with a proposed one."""


async def merged_as(place: Place, base: Commit, commit: Commit) -> Rewritten | None:
    """The commit on the branch that holds a change proposed on top of `base`; None: it is not there.

    It is one of the first-parent line: the first with the proposed commit, or its tree, or the same patch.
    """
    if base == commit:
        return None
    said = await place.git.run(
        "log", "--first-parent", f"--max-count={_COMMITS}", "--format=%H %T %P", f"{base}..{place.ref}", "--"
    )
    line = [_commit(*row.split()) for row in said.line.splitlines()]
    if found := await _first_with(place, line, commit):
        return found
    (tree,) = await place.git.names(f"{commit}^{{tree}}")
    if same := next((each for each in line if each.tree == tree), None):
        return same
    ids = await _patch_ids(place, [commit, *(each.commit for each in line)])
    wanted = ids.pop(commit, None)
    return next((each for each in line if wanted and ids.get(each.commit) == wanted), None)


async def _first_with(place: Place, line: list[Rewritten], commit: Commit) -> Rewritten | None:
    """The oldest commit of a first-parent line, the newest first, that has a commit in its history."""
    said = await place.git.run("rev-list", "--ancestry-path", f"{commit}..{place.ref}", "--")
    newer = set(said.line.split())
    return next((each for each in reversed(line) if each.commit == commit or each.commit in newer), None)


async def on_branch(place: Place, commit: Commit) -> Rewritten | None:
    """The commit as which a forge says that it has merged a change, if the branch here has it."""
    said = await place.git.run("log", "-1", "--format=%H %T %P", commit, "--", ok=(0, 128))
    if said.code or not said.line:
        return None
    found = await place.git.run("merge-base", "--is-ancestor", commit, place.ref, ok=(0, 1))
    return None if found.code else _commit(*said.line.split())


def _commit(commit: str, tree: str, parent: str = "", *_: str) -> Rewritten:
    return Rewritten(Commit(commit), Tree(tree), Commit(parent))


async def _patch_ids(place: Place, commits: list[Commit]) -> dict[Commit, str]:
    """The digest of what each commit changes against its first parent."""
    if len(commits) < 2:
        return {}
    words = ("--no-walk=unsorted", "-p", "-m", "--first-parent", "--no-ext-diff", "--no-textconv", "--stdin")
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    diffs = (await place.git.run("log", "--format=commit %H", *words, feed=feed)).out
    said = await place.git.run("patch-id", "--stable", feed=diffs)
    pairs = (row.split() for row in said.line.splitlines())
    return {Commit(commit): digest for digest, commit in pairs}
