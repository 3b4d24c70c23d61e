"""The branch's upstream: fetched with the user's own credentials, followed by fast-forward.

What has diverged is merged by the engine, which can check the outcome first.
"""

from dataclasses import dataclass

from interlock.git.branch import Advance, Branch
from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.outcome import Move
from interlock.model.task import Commit

_FETCH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Upstream:
    ref: str
    remote: str
    remote_ref: str

    @property
    def name(self) -> str:
        return self.ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")


async def catch_up(place: Place, branch: Branch) -> str:
    """Fetch, and move the branch forward if it is only behind. Says what the user should know, or nothing."""
    upstream = await _upstream(place)
    if upstream is None:
        return ""
    if warning := await _fetch(place, upstream):
        return warning
    said = await place.git.run(
        "rev-list", "--left-right", "--count", f"{place.ref}...{upstream.ref}", ok=(0, 128)
    )
    if said.code:
        return f"warning: {upstream.name}, the upstream of {place.branch}, does not exist"
    ahead, behind = (int(number) for number in said.line.split())
    return await _forward(place, branch, upstream, behind) if behind and not ahead else ""


async def diverged(place: Place) -> tuple[str, Commit] | None:
    """The upstream's name and commit, as last fetched, if each side has commits that the other has not."""
    upstream = await _upstream(place)
    ours, theirs = await place.git.names(place.ref, upstream.ref) if upstream else (None, None)
    if upstream is None or ours is None or theirs is None or ours == theirs:
        return None
    base = (await place.git.run("merge-base", ours, theirs, ok=(0, 1))).line
    return None if base in (ours, theirs) else (upstream.name, Commit(theirs))


async def _upstream(place: Place) -> _Upstream | None:
    shape = "--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)"
    said = await place.git.run("for-each-ref", shape, place.ref)
    ref, remote, remote_ref = said.line.split("\0")
    return _Upstream(ref, remote, remote_ref) if ref else None


async def _fetch(place: Place, upstream: _Upstream) -> str:
    if not upstream.remote or upstream.remote == ".":
        return ""
    # From where a person would run it: the path of a remote may be relative.
    beside = place.common_dir.parent if place.common_dir.name == ".git" else None
    user = Git(place.common_dir, beside, as_user=True)
    words = ("--quiet", "--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules")
    spec = f"+{upstream.remote_ref}:{upstream.ref}"
    try:
        await user.run("fetch", *words, "--end-of-options", upstream.remote, spec, timeout=_FETCH_SECONDS)
    except GitFailed as failed:
        last = failed.said.splitlines()[-1] if failed.said else "no reason given"
        return f"warning: cannot fetch {upstream.name} ({last}); continuing with the local {place.branch}"
    return ""


async def _forward(place: Place, branch: Branch, upstream: _Upstream, behind: int) -> str:
    old, new = await place.git.names(place.ref, upstream.ref)
    if old is None or new is None:
        return ""
    advance = Advance(place.branch, new, old, f"interlock: fast-forward to {upstream.name}")
    move = await branch.move(advance)
    commits = f"{behind} commit{'s' if behind > 1 else ''}"
    if move is Move.MOVED:
        return f"{place.branch} fast-forwarded to {upstream.name} ({commits})"
    if move is Move.HELD:
        return (
            f"warning: {place.branch} is {commits} behind {upstream.name}, but your checkout of it has "
            "uncommitted changes to the same files; continuing with the local one"
        )
    return f"warning: {place.branch} is {commits} behind {upstream.name}, but another process is moving it"
