"""The branch's upstream: fetched with the user's own credentials, followed by fast-forward.

What has diverged is merged by the engine, which can check the outcome first.
"""

import re
from dataclasses import dataclass

from interlock.git.branch import Advance, Branch
from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Move
from interlock.model.task import Commit

_FETCH_SECONDS = 60.0
LOGIN = re.compile(r"//[^/@\s]*@")
"""A user and a password in an address."""


class UpstreamGone(EnvironmentProblem):
    """The branch follows a branch that does not exist."""

    code = "upstream"


@dataclass(frozen=True, slots=True)
class Upstream:
    """The branch that the protected branch follows."""

    ref: str
    """Its name here, as last fetched."""
    remote: str
    remote_ref: str
    """Its name on the remote."""

    @property
    def name(self) -> str:
        return self.ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")

    @property
    def branch(self) -> str:
        """Its name on the remote, without `refs/heads/`."""
        return self.remote_ref.removeprefix("refs/heads/")

    @property
    def is_remote(self) -> bool:
        """False if it is a branch of this repository."""
        return self.remote not in ("", ".")


async def catch_up(place: Place, branch: Branch) -> str:
    """Fetch, and move the branch forward if it is only behind. Says what the user should know, or nothing."""
    upstream = await upstream_of(place)
    if upstream is None:
        return ""
    if last := await fetch(place, upstream):
        return f"warning: cannot fetch {upstream.name} ({last}); continuing with the local {place.branch}"
    try:
        behind, ahead = await behind_and_ahead(place, upstream)
    except UpstreamGone:
        return f"warning: {upstream.name}, the upstream of {place.branch}, does not exist"
    return await _forward(place, branch, upstream, behind) if behind and not ahead else ""


async def behind_and_ahead(place: Place, upstream: Upstream) -> tuple[int, int]:
    """Count the commits that only the upstream has, as last fetched, and those that only the branch has."""
    said = await place.git.run(
        "rev-list", "--left-right", "--count", f"{place.ref}...{upstream.ref}", ok=(0, 128)
    )
    if said.code:
        raise UpstreamGone(
            f"{upstream.name}, the upstream of {place.branch}, does not exist",
            f"git push -u {upstream.remote} {place.branch}",
        )
    ahead, behind = (int(number) for number in said.line.split())
    return behind, ahead


async def diverged(place: Place) -> tuple[str, Commit] | None:
    """The upstream's name and commit, as last fetched, if each side has commits that the other has not."""
    upstream = await upstream_of(place)
    ours, theirs = await place.git.names(place.ref, upstream.ref) if upstream else (None, None)
    if upstream is None or ours is None or theirs is None or ours == theirs:
        return None
    base = (await place.git.run("merge-base", ours, theirs, ok=(0, 1))).line
    return None if base in (ours, theirs) else (upstream.name, Commit(theirs))


async def upstream_of(place: Place) -> Upstream | None:
    """Read from the user's configuration which branch the protected branch follows."""
    shape = "--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)"
    said = await place.git.run("for-each-ref", shape, place.ref)
    ref, remote, remote_ref = said.line.split("\0")
    return Upstream(ref, remote, remote_ref) if ref else None


def as_user(place: Place) -> Git:
    """Git from where a person would run it: the path of a remote may be relative."""
    beside = place.common_dir.parent if place.common_dir.name == ".git" else None
    return Git(place.common_dir, beside, as_user=True)


async def fetch(place: Place, upstream: Upstream) -> str:
    """Fetch the upstream; return why that failed, or nothing."""
    if not upstream.is_remote:
        return ""
    words = ("--quiet", "--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules")
    spec = f"+{upstream.remote_ref}:{upstream.ref}"
    try:
        await as_user(place).run(
            "fetch", *words, "--end-of-options", upstream.remote, spec, timeout=_FETCH_SECONDS
        )
    except GitFailed as failed:
        said = await without_logins(place, upstream, failed.said)
        return said.splitlines()[-1] if said else "no reason given"
    return ""


async def addresses(place: Place, upstream: Upstream) -> tuple[list[str], list[str]]:
    """Return where git fetches the remote of an upstream from, and where it pushes to."""
    name = upstream.remote
    fetched = await _lines(place, "remote", "get-url", "--all", name)
    return fetched or [name], await _lines(place, "remote", "get-url", "--push", "--all", name) or [name]


async def without_logins(place: Place, upstream: Upstream, said: str) -> str:
    """Return what git printed without users, passwords and tokens in the addresses of the remote.

    git itself leaves out only a user and a password that it can parse.
    """
    name = upstream.remote
    written = ("config", "--get-regexp", r"^remote\..*\.(push)?url$")
    lines = [line for several in await addresses(place, upstream) for line in several]
    lines += [line.partition(" ")[2] for line in await _lines(place, *written)]
    for address in sorted({*lines, name}, key=len, reverse=True):
        if "://" in address:
            said = said.replace(address, _shown(address)).replace(LOGIN.sub("//", address), _shown(address))
    return LOGIN.sub("//", said)


async def _lines(place: Place, *words: str) -> list[str]:
    return (await as_user(place).run(*words, ok=(0, 1, 2, 128))).out.decode("utf-8", "replace").splitlines()


def _shown(address: str) -> str:
    """Return an address without what may be secret in it."""
    scheme, _, rest = re.split(r"[?#]", address)[0].partition("://")
    host, slash, path = rest.partition("/")
    if "@" in path:  # a password may have a slash in it
        return f"{scheme}://..."
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


async def _forward(place: Place, branch: Branch, upstream: Upstream, behind: int) -> str:
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
