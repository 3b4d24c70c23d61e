"""The user's repository: merges in memory, and landings by compare-and-swap."""

import asyncio
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from interlock.git import checkout, fence, upstream
from interlock.git.branch import Advance, Branch
from interlock.git.checkout import CheckoutStatus
from interlock.git.command import LONG_AGO, Git, Output
from interlock.git.conflicts import conflict_of, tree_of
from interlock.git.errors import BranchGone, GitFailed, UnsafeLanding
from interlock.git.files import SCRATCH
from interlock.git.history import read_changes
from interlock.git.ignored import LANDED
from interlock.git.lineage import read_lineage
from interlock.git.place import Place, loose_ref, ref_word
from interlock.git.protocol import DIFF_BYTES, Divergence, Resolve, Rewritten
from interlock.git.push import Push, push_landing
from interlock.model.errors import EnvironmentProblem
from interlock.model.history import BranchHistory
from interlock.model.outcome import Landing, Merge, Move, Tip
from interlock.model.task import Change, Commit, Tree

_MERGE_WORDS = ("--write-tree", "-z", "--allow-unrelated-histories")
_CONFLICTS = 1
"""The exit status of `merge-tree` when it could not merge everything."""
_DIFF = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


class GitRepository:
    """Implements `interlock.git.protocol.Repository`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._git = place.git
        self._fence = fence.Fence(place)
        self._branch = Branch(place)
        self._fetching = asyncio.Lock()
        self._tip: Tip | None = None
        """The tip of the branch when git was last asked."""

    async def tip(self) -> Tip:
        if self._tip is None or loose_ref(self.place) != self._tip.commit:
            self._tip = await self._ask_tip()
        return self._tip

    async def _ask_tip(self) -> Tip:
        commit, tree = await self._git.names(self.place.ref, f"{self.place.ref}^{{tree}}")
        if commit is None or tree is None:
            raise BranchGone(self.place.branch, self._tip.commit[:12] if self._tip else "")
        return Tip(self.place.branch, Commit(commit), Tree(tree))

    async def fetch(self) -> str:
        async with self._fetching:  # two of them at once would move the same ref
            return await upstream.catch_up(self.place, self._branch)

    async def fence_epoch(self) -> int:
        return await self._fence.epoch()

    async def raise_fence(self, epoch: int) -> None:
        await self._fence.to(epoch)

    async def merge(self, onto: Commit, work: Commit, base: Commit) -> Merge:
        # `merge-tree --merge-base` came with git 2.40; looking up the base meanwhile costs no time.
        said, is_base = await asyncio.gather(self._merge_tree(onto, work), self._is_base(base, onto, work))
        if not is_base:
            ours, theirs = await asyncio.gather(self._on(base, onto), self._on(base, work))
            said = await self._merge_tree(ours, theirs)
        if said.code != _CONFLICTS:
            return Merge(tree_of(said))
        return await conflict_of(self._git, said)

    async def merge_all(self, onto: Commit, changes: Sequence[Change], resolve: Resolve) -> list[Merge]:
        merges: list[Merge] = []
        for change in changes:
            if merges and merges[-1].tree:
                onto = await self._unsigned(merges[-1].tree, onto)
            merges.append(await resolve(await self.merge(onto, change.commit, change.base)))
            if merges[-1].tree is None:
                break
        return merges

    async def divergence(self) -> Divergence | None:
        diverged = await upstream.diverged(self.place)
        if diverged is None:
            return None
        name, theirs = diverged
        main = await self.tip()
        said = await self._merge_tree(main.commit, theirs)
        clean = said.code != _CONFLICTS
        merge = Merge(tree_of(said)) if clean else await conflict_of(self._git, said)
        sides = (main.commit, theirs) if merge.tree else ()
        found = [each.name for side in sides for each in await self._git.changes(side, merge.tree or "")]
        return Divergence(name, main, theirs, merge, tuple(dict.fromkeys(found)))

    async def commit(self, tree: Tree, parent: Commit, message: str, *merged: Commit) -> Commit:
        return Commit(await self._commit(tree, [parent, *merged], message))

    async def land(self, landing: Landing) -> Move:
        ref = f"refs/heads/{landing.branch}"
        tip, tree, parent, standing = await self._git.names(
            ref, f"{landing.new}^{{tree}}", f"{landing.new}^1", fence.REF
        )
        if landing.tree is not None and tree != landing.tree:
            raise UnsafeLanding(f"{landing.new} holds tree {tree}, but {landing.tree} was tested")
        if not await self._fence.admits(landing.fence, standing):
            return Move.FENCED
        is_child = tip == landing.old == parent
        if not is_child:
            if await self.contains(landing.new):
                return Move.MOVED
            if tip != landing.old:
                return Move.STALE
            await self._refuse_rewind(landing)
        advance = Advance(
            landing.branch,
            landing.new,
            landing.old,
            "interlock: land",
            self._fence.object_id(landing.fence),
            tuple(landed_ref(self.place, task) for task in landing.tasks),
        )
        return await self._branch.move(advance)

    async def push(self, landing: Landing) -> Push:
        """Push the tested commit of a landing to the remote branch, if that is where it was tested."""
        return await push_landing(self.place, landing)

    async def obstacle(self, landing: Landing) -> str:
        return await self._branch.obstacle(Advance(landing.branch, landing.new, landing.old, ""))

    async def contains(self, commit: Commit) -> bool:
        return await self._branch.contains(self.place.branch, commit)

    async def missing(self, commits: Collection[Commit]) -> frozenset[Commit]:
        return await missing(self.place, self.place.branch, commits)

    async def rewritten(self, gone: Collection[Commit]) -> Mapping[Commit, Rewritten]:
        return await rewritten(self.place, self.place.branch, gone)

    async def landings(self) -> Mapping[str, Tip]:
        found = await landings(self.place)
        trees = await self._git.names(*(f"{commit}^{{tree}}" for commit in found.values())) if found else []
        pairs = zip(found.items(), trees, strict=True)
        return {task: Tip(self.place.branch, commit, Tree(tree or "")) for (task, commit), tree in pairs}

    async def diff(self, old: str, new: str, paths: Sequence[str] = ()) -> str:
        literal = self._git.having(GIT_LITERAL_PATHSPECS="1")
        said = await literal.run(
            "diff-tree", *_DIFF, "--end-of-options", old, new, "--", *paths, limit_bytes=DIFF_BYTES
        )
        text = said.out.decode("utf-8", "replace")
        return text + f"\n[cut after {DIFF_BYTES >> 20} MiB]\n" if said.cut else text

    async def files(self) -> frozenset[str]:
        return frozenset((await self._git.run("ls-tree", "-r", "-z", "--name-only", self.place.ref)).items)

    async def refuse_absent_files(self) -> None:
        """Refuse a partial clone that lacks files of the branch: git fetches nothing while agents work."""
        if not any((self.place.common_dir / "objects" / "pack").glob("*.promisor")):
            return
        asked = ("rev-list", "--objects", "--missing=print", "--max-count=1", self.place.ref)
        said = await self._git.run(*asked)
        absent = sum(line.startswith("?") for line in said.line.splitlines())
        if absent:
            files = "1 file is" if absent == 1 else f"{absent} files are"
            raise EnvironmentProblem(
                f"this is a partial clone: {files} not here that {self.place.branch} has",
                "git fetch --refetch --no-filter",
            )

    async def past(self) -> BranchHistory:
        changes = await read_changes(self._git, self.place.ref)
        return BranchHistory(changes, await self.files())

    async def history(self) -> list[Tip]:
        """List the tips of the branch along first parents, oldest first."""
        said = await self._git.run(
            "log", "--first-parent", "--reverse", "--format=%H %T", self.place.ref, "--"
        )
        pairs = (line.split() for line in said.line.splitlines())
        return [Tip(self.place.branch, Commit(commit), Tree(tree)) for commit, tree in pairs]

    async def checkout(self) -> CheckoutStatus:
        """Look at the user's own checkouts of the branch: their edits can hold a landing up."""
        return await checkout.look_at(self.place)

    async def try_signing(self) -> bool:
        """Return True if commits are signed here. Raises if signing is wanted and fails."""
        if wanted := _is_signed(self.place):
            await _try_signing(self.place)
        return wanted

    async def settle(self) -> str:
        return await self._branch.settle()

    def old_locks(self, older_than_seconds: float = 300.0) -> list[Path]:
        """Lock files that no living git is likely to hold. They are named, never removed."""
        common = self.place.common_dir
        places = (common, common / "refs" / "heads", common / "refs" / "interlock")
        locks = {lock for folder in places for lock in folder.glob("*.lock")}
        locks.add(common / f"{self.place.ref}.lock")
        oldest = time.time() - older_than_seconds
        return sorted(lock for lock in locks if lock.exists() and lock.stat().st_mtime < oldest)

    async def _merge_tree(self, onto: str, work: str) -> Output:
        return await self._git.run("merge-tree", *_MERGE_WORDS, onto, work, ok=(0, _CONFLICTS))

    async def _is_base(self, base: Commit, onto: Commit, work: Commit) -> bool:
        """Return True if git itself would take `base` as the merge base."""
        return (await self._git.run("merge-base", "--all", onto, work, ok=(0, 1))).line == base

    async def _commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        if _is_signed(self.place):
            return await _sign_commit(self.place, tree, parents, message)
        above = [word for parent in parents for word in ("-p", parent)]
        return (await self._git.run("commit-tree", tree, *above, feed=message.encode())).line

    async def _on(self, base: str, commit: str) -> str:
        """The commit's tree as a child of `base`, so that `base` is what git merges from."""
        return await self._unsigned(f"{commit}^{{tree}}", base)

    async def _unsigned(self, tree: str, parent: str) -> Commit:
        """A commit to merge with, which never lands."""
        dated = self._git.having(**LONG_AGO)
        return Commit((await dated.run("commit-tree", tree, "-p", parent, feed=b"merge base\n")).line)

    async def _refuse_rewind(self, landing: Landing) -> None:
        said = await self._git.run("merge-base", "--is-ancestor", landing.old, landing.new, ok=(0, 1))
        if said.code:
            raise UnsafeLanding(f"{landing.new} does not build on {landing.old}: commits would be dropped")


# Landed commits of each task, as refs of the repository: the log may lose its end, and main may move back.
#
# The ref of a task moves in the same transaction as the branch, so it says no less and no more than the
# truth. Agents cannot write it, as they can write a trailer. It names the lineage, because a new state
# folder begins without landings.

_PREFIX = "refs/interlock/landed/"


def landed_ref(place: Place, task: str) -> str:
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


_SIGNS = "--format=%H %T %P%x00%an%x00%at%x00%B"
"""A commit and its parents, and what a rebase leaves as it was: author, time and message."""


async def rewritten(place: Place, branch: str, gone: Collection[Commit]) -> dict[Commit, Rewritten]:
    """Find on the branch the one commit that has the author, time and message of each of these.

    Only a commit that names a task is looked at, and none that was already there before the rebase.
    """
    known = await place.git.names(*gone) if gone else []
    before = [commit for commit in known if commit]
    if not before:
        return {}
    old = await _signs(place, ["--no-walk"], before)
    new = await _signs(
        place, [f"--grep={LANDED}"], [f"refs/heads/{branch}", *(f"^{each}" for each in before)]
    )
    pairs = ((one[0], new.get(sign, [])) for sign, one in old.items() if len(one) == 1)
    return {was.commit: found[0] for was, found in pairs if len(found) == 1}


async def _signs(
    place: Place, words: Sequence[str], revisions: Sequence[str]
) -> dict[bytes, list[Rewritten]]:
    """List commits by what a rebase leaves as it was."""
    feed = "".join(f"{revision}\n" for revision in revisions).encode()
    said = await place.git.run("log", "-z", _SIGNS, *words, "--stdin", feed=feed)
    found: dict[bytes, list[Rewritten]] = {}
    fields = said.out.split(b"\0")
    for at in range(0, len(fields) - 3, 4):
        commit, tree, *parents = fields[at].decode().split()
        each = Rewritten(Commit(commit), Tree(tree), Commit(parents[0] if parents else ""))
        found.setdefault(b"\0".join(fields[at + 1 : at + 4]).rstrip(), []).append(each)
    return found


async def write_patch(place: Place, old: str, new: str, sink: BinaryIO) -> None:
    """Write the diff of two commits as `git apply` takes it, to the byte."""
    await place.git.run("diff-tree", *_DIFF, "--binary", "--end-of-options", old, new, sink=sink)


# Signed commits: made with the user's own key and programs, where the user's git signs (`commit.gpgsign`).
#
# 1. Only commits that may land are signed. What agents made stays as it is.
# 2. The user is then the committer too: hosts verify a signature by the committer's address.
# 3. A key that cannot be used is found out before anything starts. A passphrase may be asked for then, and
#    not in the middle of a run.

_SIGNING_SECONDS = 60.0
_TRUE = ("true", "yes", "on", "1", "")


class CannotSign(EnvironmentProblem):
    """The user's git signs commits, and that fails."""

    code = "signing"


def _is_signed(place: Place) -> bool:
    return place.settings.get("commit.gpgsign", "false").lower() in _TRUE


async def _sign_commit(place: Place, tree: str, parents: Sequence[str], message: str) -> str:
    # Without a terminal: a question there would be drawn over what a run shows.
    return await _signed(_user(place).having(GPG_TTY=""), tree, parents, message)


async def _try_signing(place: Place) -> None:
    """Sign a commit that is thrown away. `CannotSign` says why it does not work."""
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as objects:
        git = _user(place).having(
            GIT_OBJECT_DIRECTORY=objects, GIT_ALTERNATE_OBJECT_DIRECTORIES=str(place.objects)
        )
        await _signed(git, f"{place.ref}^{{tree}}", (), "Interlock tries to sign\n")


def _user(place: Place) -> Git:
    name, email = place.author
    committer = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}
    return Git(place.common_dir, as_user=True, variables={**place.durable_variables, **committer})


async def _signed(git: Git, tree: str, parents: Sequence[str], message: str) -> str:
    above = [word for parent in parents for word in ("-p", parent)]
    try:
        said = await git.run(
            "commit-tree", "-S", tree, *above, feed=message.encode(), timeout=_SIGNING_SECONDS
        )
    except GitFailed as failed:
        lines = [line for line in failed.said.splitlines() if line.strip()]
        raise CannotSign(
            f"your git signs commits (commit.gpgsign), but signing fails: {lines[0] if lines else failed}",
            "unlock the key (`git commit --allow-empty -S -m test` tries it), "
            "or turn signing off here: git config commit.gpgsign false",
        ) from failed
    return said.line
