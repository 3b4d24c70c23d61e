"""Pushes tested commits to the remote of the protected branch, as the user's own git would.

Rules:
1. A push of the branch names the commit that it expects there, and only ever goes forward from that commit.
   The remote compares, so a push never takes the place of what others pushed.
2. The remote and its credentials are the user's, from the branch's own configuration. Nothing asks: git,
   ssh and credential helpers get no terminal and no window.
3. No hook of the user runs. A `pre-push` hook often runs the project's code, which agents change.
4. What is read from the remote and what is pushed must be the same repository: a remote with several
   addresses to push to, or with one of another repository, is refused.
5. After a failed push, the refs of the remote say what happened. The text of an error does not.
"""

import os
import re
from dataclasses import dataclass
from enum import StrEnum

from interlock.git.command import Git
from interlock.git.errors import GitFailed, UnsafeLanding
from interlock.git.notes import REF as NOTES
from interlock.git.notes import add_fetched_notes
from interlock.git.place import Place
from interlock.git.upstream import (
    LOGIN,
    Upstream,
    addresses,
    as_user,
    behind_and_ahead,
    fetch,
    upstream_of,
    without_logins,
)
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Landing

PUSH_SECONDS, _LOOK_SECONDS = 300.0, 60.0
_OWN_KEPT = 100
"""The last commits of a branch of Interlock's own that are remembered as pushed from here."""
_LINE_CHARS = 300
_FETCHED = "refs/interlock/fetched-notes"
_SSH = re.compile(r"(?:[^@/:]+@)?([^/:]+):(.+)")
"""An address as ssh has it: a host, a colon and a path."""
_WORDS = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")


class CannotPush(EnvironmentProblem):
    """Changes are to be pushed, and the repository or its remote is not ready for that."""

    code = "push"


class PushOutcome(StrEnum):
    """The result of a push."""

    PUSHED = "pushed"
    """The remote has the commit: pushed now, or before."""
    BEHIND = "behind"
    """The remote has commits that the branch does not have here."""
    UNPUSHED = "unpushed"
    """The branch has commits here that the remote does not have."""
    REFUSED = "refused"
    """The remote is where it was expected, and does not take the commit: a rule or a hook there."""
    UNREACHABLE = "unreachable"
    TAKEN = "taken"
    """A branch of Interlock's own has commits there that others pushed."""


@dataclass(frozen=True, slots=True)
class Push:
    """A push, as it ended."""

    outcome: PushOutcome
    upstream: str
    """The usual name of the remote branch, like `origin/main`."""
    text: str = ""
    """The last words of git or of the remote."""


async def required_upstream(place: Place) -> Upstream:
    """Return the remote branch that the protected branch follows; `CannotPush` if it follows none."""
    upstream = await upstream_of(place)
    if upstream is None or not upstream.is_remote:
        raise CannotPush(
            f"{place.branch} follows no branch of a remote, so there is nowhere to push to",
            f"git push -u origin {place.branch}",
        )
    await _refuse_other_address(place, upstream)
    return upstream


async def _refuse_other_address(place: Place, upstream: Upstream) -> None:
    """Rule 4. One repository may have two addresses: to read by https, and to push by ssh."""
    fetched, pushed = await addresses(place, upstream)
    if len(pushed) > 1:
        text = f"{upstream.remote} is pushed to {len(pushed)} addresses: one may take what another refuses"
    elif fetched[:1] != pushed[:1] and _repository(place, fetched[0]) != _repository(place, pushed[0]):
        text = f"{upstream.remote} is fetched from one repository and pushed to another"
    else:
        return
    raise CannotPush(text, f"git config --unset-all remote.{upstream.remote}.pushurl")


def _repository(place: Place, address: str) -> str:
    """Return the host and the path of an address, without what differs from one protocol to another."""
    scheme, is_url, rest = address.partition("://")
    if not is_url and (there := _SSH.fullmatch(address)):
        rest = f"{there[1]}/{there[2]}"
    elif not is_url or scheme == "file":
        return str((place.common_dir.parent / (rest or address)).resolve()).removesuffix("/.git")
    host, _, path = rest.rpartition("@")[2].partition("/")
    return f"{host.partition(':')[0].lower()}/{path.strip('/').removesuffix('.git')}"


async def push_landing(place: Place, landing: Landing) -> Push:
    """Move the remote's branch from the commit that the landing was built on to the tested one (rule 1)."""
    await _refuse_unsafe(place, landing)
    upstream = await required_upstream(place)
    lease = f"--force-with-lease={upstream.remote_ref}:{landing.old}"
    if text := await _push(place, upstream, f"{landing.new}:{upstream.remote_ref}", lease):
        return await _judged(place, upstream, landing, text)
    return Push(PushOutcome.PUSHED, upstream.name)


async def push_branch(place: Place, landing: Landing, branch: str) -> Push:
    """Move a branch of Interlock's own on the remote to a tested commit. One that has the commits of others
    stays as it is."""
    await _refuse_unsafe(place, landing)
    upstream = await required_upstream(place)
    ref, name = f"refs/heads/{branch}", f"{upstream.remote}/{branch}"
    _, (address, *_) = await addresses(place, upstream)  # the lease is about what is pushed to
    try:
        said = await _user(place).run("ls-remote", "--end-of-options", address, ref, timeout=_LOOK_SECONDS)
    except GitFailed as failed:
        said_safely = await without_logins(place, upstream, failed.said)
        return Push(PushOutcome.UNREACHABLE, name, last_words(said_safely))
    there = said.line.split()[0] if said.line else ""
    pushed = place.state / "pushed" / branch
    own = pushed.read_text().split() if pushed.exists() else []
    if there and there not in own:
        return Push(PushOutcome.TAKEN, name)
    pushed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pushed.write_text(
        "\n".join([*own[-_OWN_KEPT:], landing.new])
    )  # before the push, which a crash may follow
    if text := await _push(place, upstream, f"{landing.new}:{ref}", f"--force-with-lease={ref}:{there}"):
        return Push(PushOutcome.REFUSED, name, text)
    return Push(PushOutcome.PUSHED, name)


async def is_on_upstream(place: Place, commit: str) -> bool:
    """Tell if the remote branch, as last fetched, has a commit."""
    upstream = await required_upstream(place)
    said = await place.git.run("merge-base", "--is-ancestor", commit, upstream.ref, ok=(0, 1))
    return said.code == 0


async def push_notes(place: Place) -> str:
    """Push the statements about landed commits; return the last words of git if that does not work.

    Others may have pushed theirs meanwhile: these are added to ours first.
    """
    upstream = await required_upstream(place)
    text = await _push(place, upstream, f"{NOTES}:{NOTES}")
    if text and await _fetch_notes(place, upstream):
        await add_fetched_notes(place, _FETCHED)
        text = await _push(place, upstream, f"{NOTES}:{NOTES}")
    return text


async def _fetch_notes(place: Place, upstream: Upstream) -> bool:
    """Fetch the statements of others; return True if the remote has some that are not here."""
    words = ("--quiet", "--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules")
    spec = f"+{NOTES}:{_FETCHED}"
    try:
        await _user(place).run(
            "fetch", *words, "--end-of-options", upstream.remote, spec, timeout=PUSH_SECONDS
        )
    except GitFailed:
        return False
    return (await place.git.run("merge-base", "--is-ancestor", _FETCHED, NOTES, ok=(0, 1))).code == 1


async def refuse_unready(place: Place) -> Upstream:
    """Find out before agents work whether the remote can be pushed to, and return its branch."""
    upstream = await required_upstream(place)
    hint = f"git push --dry-run {upstream.remote} {place.branch}"
    if text := await fetch(place, upstream):
        raise CannotPush(f"{upstream.name} cannot be fetched: {text}", f"git fetch {upstream.remote}")
    behind, ahead = await behind_and_ahead(place, upstream)
    if ahead:
        commits = "1 commit" if ahead == 1 else f"{ahead} commits"
        rebase = "git pull --rebase && " if behind else ""
        raise CannotPush(
            f"{place.branch} has {commits} that {upstream.name} does not have; nothing untested is pushed",
            f"push them yourself: {rebase}git push {upstream.remote} {place.branch}",
        )
    if text := await _push(place, upstream, f"{upstream.ref}:{upstream.remote_ref}", "--dry-run"):
        raise CannotPush(f"{upstream.name} cannot be pushed to: {text}", hint)
    return upstream


async def _refuse_unsafe(place: Place, landing: Landing) -> None:
    """Refuse a commit that is not the one that was tested, or that does not go forward."""
    (tree,) = await place.git.names(f"{landing.new}^{{tree}}")
    if landing.tree is not None and tree != landing.tree:
        raise UnsafeLanding(f"{landing.new} holds tree {tree}, but {landing.tree} was tested")
    said = await place.git.run("merge-base", "--is-ancestor", landing.old, landing.new, ok=(0, 1))
    if said.code:
        raise UnsafeLanding(f"{landing.new} does not build on {landing.old}: commits would be dropped")


async def _push(place: Place, upstream: Upstream, refspec: str, *words: str) -> str:
    """Push; return nothing if that went well, else the last words of git or of the remote."""
    try:
        said = await _user(place).run(
            "push",
            *_WORDS,
            *words,
            "--end-of-options",
            upstream.remote,
            refspec,
            ok=(0, 1),
            timeout=PUSH_SECONDS,
        )
    except GitFailed as failed:
        return last_words(await without_logins(place, upstream, failed.said))
    if not said.code:
        return ""
    return last_words(await without_logins(place, upstream, said.err)) or "refused"


async def _judged(place: Place, upstream: Upstream, landing: Landing, text: str) -> Push:
    """Find out why a push failed (rule 5)."""
    if problem := await fetch(place, upstream):
        return Push(PushOutcome.UNREACHABLE, upstream.name, problem)
    said = await place.git.run("merge-base", "--is-ancestor", landing.new, upstream.ref, ok=(0, 1))
    behind, ahead = await behind_and_ahead(place, upstream)
    if said.code == 0:
        return Push(PushOutcome.PUSHED, upstream.name)
    if ahead:
        return Push(PushOutcome.UNPUSHED, upstream.name, text)
    return Push(PushOutcome.BEHIND if behind else PushOutcome.REFUSED, upstream.name, text)


def last_words(said: str) -> str:
    """The line that says most of what a failed push printed: the remote's own, else git's last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "remote: error", "remote: fatal", "ssh:"))]
    told = [line for line in lines if line.startswith("remote:") and len(line) > len("remote:")]
    line = next(iter(errors or told or lines[-1:]), "")
    return LOGIN.sub("//", line)[:_LINE_CHARS]


def _user(place: Place) -> Git:
    """Git as the user, which asks nothing (rule 2)."""
    quiet = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"}
    allowed = {"GIT_ALLOW_PROTOCOL": os.environ.get("GIT_ALLOW_PROTOCOL") or "file:git:http:https:ssh"}
    own = ("GIT_SSH_COMMAND", "GIT_SSH")
    is_own = any(os.environ.get(name) for name in own) or place.settings.get("core.sshcommand")
    ssh = {} if is_own else {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
    return as_user(place).having(**quiet, **allowed, **ssh)
