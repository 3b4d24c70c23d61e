"""Finds proposed commits on the protected branch, as a person or a forge merged, squashed or rebased them."""

from interlock.git.place import Place
from interlock.git.protocol import Rewritten
from interlock.model.task import Commit, Tree

_COMMITS = 200
"""The most commits of the branch that are compared with a proposed one."""
_NAMED_AMONG = 20_000
"""The most commits of the branch among which a merge is looked for that the forge names."""


async def merged_as(place: Place, base: Commit, commit: Commit) -> Rewritten | None:
    """The commit on the branch that holds a change proposed on top of `base`; None: it is not there.

    It is one of the first-parent line: the first with the proposed commit, or its tree, or the same patch.
    """
    if base == commit:
        return None
    line = await _line_since(place, base, _COMMITS)
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


async def merged_with_more(place: Place, base: Commit, commit: Commit, named: Commit) -> Rewritten | None:
    """The commit that a forge names as the merge of a change proposed on top of `base`, if git agrees.

    It came onto the branch after `base`, and changes every file that the change does: reviewers may have
    edited the same lines before the merge.
    """
    line = await _line_since(place, base, _NAMED_AMONG)
    found = next((each for each in line if each.commit == named), None)
    if found is None or not found.parent:
        return None
    changed = {each.path for each in await place.git.changes(found.parent, found.commit)}
    proposed = {each.path for each in await place.git.changes(base, commit)}
    return found if proposed and proposed <= changed else None


async def _line_since(place: Place, base: Commit, most: int) -> list[Rewritten]:
    """The first-parent line of the branch after `base`, the newest first."""
    words = ("--first-parent", f"--max-count={most}", "--format=%H %T %P", f"{base}..{place.ref}", "--")
    said = await place.git.run("log", *words)
    return [_commit(*row.split()) for row in said.line.splitlines()]


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
