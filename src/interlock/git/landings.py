"""Landed commits of each task, as refs of the repository: the log may lose its end, and main may move back.

The ref of a task moves in the same transaction as the branch, so it says no less and no more than the truth.
Agents cannot write it, as they can write a trailer. It names the lineage, because a new state folder begins
without landings.
"""

from collections.abc import Collection

from interlock.git.lineage import read_lineage
from interlock.git.place import Place, ref_word
from interlock.model.task import Commit

_PREFIX = "refs/interlock/landed/"


def landed_ref(place: Place, task: str) -> str:
    """The ref of a task."""
    return f"{_PREFIX}{read_lineage(place.state) or 'none'}/{ref_word(task)}"


async def landings(place: Place) -> dict[str, Commit]:
    """The last commit that landed for each task of this lineage, by `ref_word`, if it is on the branch."""
    prefix = landed_ref(place, "")
    said = await place.git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
    pairs = (line.split(" ", 1) for line in said.line.splitlines())
    found = {name.removeprefix(prefix): Commit(commit) for commit, name in pairs}
    gone = await missing(place, place.branch, set(found.values()))
    return {task: commit for task, commit in found.items() if commit not in gone}


async def missing(place: Place, branch: str, commits: Collection[Commit]) -> frozenset[Commit]:
    """Find those of these commits that are not on the branch. One walk for all of them."""
    if not commits:
        return frozenset()
    names = list(dict.fromkeys(commits))
    known = await place.git.names(*names)
    there = [name for name, found in zip(names, known, strict=True) if found]
    feed = "".join(f"{word}\n" for word in (*there, f"^refs/heads/{branch}")).encode()
    said = await place.git.run("rev-list", "--stdin", feed=feed)
    return frozenset(names).difference(there) | frozenset(names).intersection(said.line.split())
