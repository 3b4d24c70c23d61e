"""Finds what an agent's change made git ignore: the next agents are not shown it.

What git ignores in the checkout is shown to agents. So an agent that lands an ignore rule, or takes back an
exception, would show others what the user has lying there and never committed. For each landing that changed
ignore files, the rules before and after it are compared: what only its rules ignore stays hidden.
"""

import os
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place

RULES = ":(glob,icase)**/.gitignore"
LANDED = "^Interlock-Task: "
"""A line in the message of each commit that Interlock lands."""
FIRST_LANDING = "2024-01-01"
"""Interlock is not older: the history before needs no look."""
MOST_LANDINGS = 200


async def exposed(place: Place, names: Sequence[str]) -> Collection[str]:
    """Find the ignored `names`, folders with a slash at their end, that a landing exposed."""
    try:
        landings = await _landings(place) if names else []
        if not landings:
            return ()
        if len(landings) > MOST_LANDINGS:
            return names
        # A folder may be listed for the rules of all that is in it: then each of these is listed as well.
        found = set(names) - await _matched(place.checkout_git, names)
        for landing in landings:
            left = [name for name in names if name not in found]
            missed = set(left) - await _ignored(place, f"{landing}^", left)
            if missed:
                found |= await _ignored(place, landing, sorted(missed))
    except (GitFailed, OSError):
        return names
    return found


async def _landings(place: Place) -> list[str]:
    """The commits landed by Interlock that changed ignore files."""
    heads = [name for name in (place.ref, f"refs/heads/{place.head}" if place.head else "HEAD") if name]
    words = ("--format=%H %P", f"--grep={LANDED}", f"--since={FIRST_LANDING}")
    said = await place.git.run("log", *words, *dict.fromkeys(heads), "--")
    # One without a parent is where a shallow clone begins: its rules came with the clone.
    commits = [line.split()[0] for line in said.line.splitlines() if " " in line.strip()]
    if not commits:
        return []
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    changed = await place.git.run("diff-tree", "--stdin", "-r", "--name-only", "--", RULES, feed=feed)
    return [commit for commit in commits if commit.encode() in changed.out]


async def _ignored(place: Place, commit: str, names: Sequence[str]) -> set[str]:
    """Find the names that the ignore files of a commit, or the user's own rules, exclude."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        git = Git(place.common_dir, tree, variables={"GIT_INDEX_FILE": f"{folder}/index"})
        await git.run("read-tree", commit)
        files = await git.run("ls-files", "-z", "--", RULES)
        await git.run("checkout-index", "-q", "-z", "--stdin", feed=files.out)
        for name in names:
            if name.endswith("/"):  # a rule may hold for folders only
                (tree / name).mkdir(parents=True, exist_ok=True)
        # Without the index: a folder may have been a submodule then, and git would refuse to look into it.
        none = {"GIT_INDEX_FILE": f"{folder}/none"}
        return await _matched(Git(place.common_dir, tree, as_user=True, variables=none), names)


async def _matched(git: Git, names: Sequence[str]) -> set[str]:
    feed = b"".join(os.fsencode(name) + b"\0" for name in names)
    said = await git.run("check-ignore", "--no-index", "-z", "--stdin", feed=feed, ok=(0, 1))
    return {os.fsdecode(name) for name in said.out.split(b"\0") if name}
