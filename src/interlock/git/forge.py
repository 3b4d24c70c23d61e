"""Proposes tested changes as pull requests: by `gh` or `glab`, or as a patch where there is none.

Rules:
1. The program is the user's own, with the user's login. It asks nothing and opens nothing.
2. What people write on a forge is text from outside. Only people who may write to the repository send a
   change back to its agent, and their words are marked with who wrote them.
3. Every act may be repeated: a pull request that is open for the branch already is updated.
4. An answer of another shape than expected is a failure of the program, never of Interlock.
"""

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from interlock.git.forge_program import ForgeFailed, Number, Url, commit_of, read_answer, start_forge
from interlock.git.gitlab import GitLab
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem
from interlock.model.pull_request import Proposal, Proposed, PullRequest, Review, Standing
from interlock.model.task import Commit

_TRUSTED = ("OWNER", "MEMBER", "COLLABORATOR")
_VIEW = "number,url,state,isDraft,mergeable,mergeStateStatus,mergeCommit,reviews,statusCheckRollup"
_PENDING = frozenset({"QUEUED", "IN_PROGRESS", "PENDING", "WAITING", "REQUESTED", "EXPECTED"})
_RED = frozenset({"FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE"})
_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?|git@)([\w.-]+)(?::\d+)?[/:]([\w./~+-]+?)(?:\.git)?/?"
)
_INSTALL = {"gh": "https://cli.github.com", "glab": "https://gitlab.com/gitlab-org/cli"}
FOLDER = "pull-requests"
"""Below the state folder: the text of each proposal, and its patch where there is no forge."""
_T = TypeVar("_T")


class _Person(msgspec.Struct):
    login: str | None = None


class _Oid(msgspec.Struct):
    oid: str | None = None


class _Review(msgspec.Struct, rename="camel"):
    state: str | None = None
    author: _Person | None = None
    author_association: str | None = None
    body: str | None = None
    submitted_at: str | None = None
    commit: _Oid | None = None


class _Comment(msgspec.Struct):
    """A comment on a line, as the REST API shows it."""

    user: _Person | None = None
    path: str | None = None
    line: int | None = None
    original_line: int | None = None
    body: str | None = None
    original_commit_id: str | None = None


class _Check(msgspec.Struct):
    """A check run, which has a status and a conclusion, or a commit status, which has a state."""

    conclusion: str | None = None
    state: str | None = None
    status: str | None = None


class _Open(msgspec.Struct):
    number: Number
    url: Url


class Viewed(msgspec.Struct, rename="camel"):
    """The fields of `gh pr view --json`."""

    state: str
    is_draft: bool | None = None
    mergeable: str | None = None
    merge_state_status: str | None = None
    merge_commit: _Oid | None = None
    reviews: list[_Review] | None = None
    status_check_rollup: list[_Check] | None = None


class Forge(Protocol):
    """A place where changes are proposed."""

    async def propose(self, proposal: Proposal) -> Proposed:
        """Open a pull request for a branch that was pushed, or update the one that is open for it."""
        ...

    async def view(self, number: int, commit: Commit) -> PullRequest:
        """Look at a pull request that proposes this commit."""
        ...

    async def merge_when_ready(self, number: int, commit: Commit) -> None:
        """Let the forge merge it as soon as its own rules allow that."""
        ...

    async def try_out(self) -> str:
        """Find out if the forge can be used; how changes are proposed, as the end of a sentence."""
        ...


def text_file(place: Place, task: str, ending: str) -> Path:
    """The file of a proposal."""
    folder = place.state / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{task}.{ending}"


@dataclass(frozen=True, slots=True)
class Patches:
    """No forge: each proposal is a branch and a patch, with its evidence, that a person merges."""

    place: Place

    async def propose(self, proposal: Proposal) -> Proposed:
        text_file(self.place, proposal.task, "md").write_text(f"# {proposal.title}\n\n{proposal.body}")
        patch = text_file(self.place, proposal.task, "patch")
        with patch.open("wb") as sink:
            words = ("--stdout", "--binary", "--no-signature", "-1", proposal.commit)
            await self.place.git.run("format-patch", *words, sink=sink)
        return Proposed(0, str(patch))

    async def view(self, number: int, commit: Commit) -> PullRequest:  # noqa: ARG002 - see Forge
        return PullRequest(Standing.OPEN)

    async def merge_when_ready(self, number: int, commit: Commit) -> None:
        """Do nothing: a person merges it."""

    async def try_out(self) -> str:
        return f"as patches in {self.place.state / FOLDER}: there is no gh or glab for the remote"


@dataclass(frozen=True, slots=True)
class GitHub:
    """GitHub, through `gh`."""

    place: Place
    repository: str = ""
    """HOST/OWNER/NAME; empty: `gh` finds it from the remotes."""

    async def propose(self, proposal: Proposal) -> Proposed:
        body = text_file(self.place, proposal.task, "md")
        body.write_text(proposal.body)
        texts = ("--title", proposal.title, "--body-file", str(body))
        open_now = await self._read(
            list[_Open],
            *("pr", "list", "--head", proposal.branch, "--base", proposal.base_branch),
            *("--state", "open", "--json", "number,url", "--limit", "1"),
        )
        if open_now:
            proposed = Proposed(open_now[0].number, open_now[0].url)
            with suppress(ForgeFailed):  # its commits are there already, and say the same
                await self._gh("pr", "edit", str(proposed.number), *texts)
        else:
            labels = [word for label in proposal.labels for word in ("--label", label)]
            where = ("--head", proposal.branch, "--base", proposal.base_branch)
            proposed = _opened(await self._gh("pr", "create", *where, *texts, *labels))
        return proposed

    async def merge_when_ready(self, number: int, commit: Commit) -> None:
        await self._gh("pr", "merge", str(number), "--auto", "--merge", "--match-head-commit", commit)

    async def try_out(self) -> str:
        await self._read(list[_Open], "pr", "list", "--limit", "1", "--json", "number,url")
        return f"as pull requests by gh{f' on {self.repository}' if self.repository else ''}"

    async def view(self, number: int, commit: Commit) -> PullRequest:
        found = await self._read(Viewed, "pr", "view", str(number), "--json", _VIEW)
        asked = [review for review in _latest(found.reviews or ()) if _asks(review, commit)]
        comments = await self._comments(number, commit) if asked else []
        merged = commit_of(found.merge_commit.oid if found.merge_commit else None)
        reviews = tuple(_review(review, comments) for review in asked)
        return PullRequest(standing_of(found, is_asked=bool(asked)), merged, reviews)

    async def _comments(self, number: int, commit: Commit) -> list[_Comment]:
        """The comments on lines of the proposed commit."""
        path = f"repos/{{owner}}/{{repo}}/pulls/{number}/comments?per_page=100"
        found = await self._read(list[_Comment], "api", path)
        return [each for each in found if each.original_commit_id == commit]

    async def _read(self, shape: type[_T], *words: str) -> _T:
        return read_answer("gh", words, await self._gh(*words), shape)

    async def _gh(self, *words: str) -> bytes:
        where = {"GH_REPO": self.repository} if self.repository else {}
        return await start_forge(
            self.place, "gh", words, GH_PROMPT_DISABLED="1", GH_NO_UPDATE_NOTIFIER="1", **where
        )


def _opened(said: bytes) -> Proposed:
    """`gh pr create` prints the address of the new pull request last."""
    url = (said.decode(errors="replace").strip().splitlines()[-1:] or [""])[0].strip()
    number = re.fullmatch(r"\S{1,2000}/pull/([1-9]\d{0,14})", url, re.ASCII)
    if number is None:
        raise ForgeFailed("gh", ("pr", "create"), f"it printed no address: {url}")
    return Proposed(int(number[1]), url)


def standing_of(found: Viewed, *, is_asked: bool = False) -> Standing:
    """The standing of a pull request."""
    if found.state != "OPEN":
        return Standing.MERGED if found.state == "MERGED" else Standing.CLOSED
    return Standing.CHANGES_REQUESTED if is_asked else _waits_for(found)


def _waits_for(found: Viewed) -> Standing:
    if found.mergeable == "CONFLICTING":
        return Standing.CONFLICTS
    if found.merge_state_status == "BEHIND":
        return Standing.BEHIND
    if found.is_draft:
        return Standing.DRAFT
    ends = {_end(check) for check in found.status_check_rollup or ()}
    if ends & _RED:
        return Standing.CHECKS_FAILED
    if ends & _PENDING:
        return Standing.CHECKS_PENDING
    states = {review.state for review in _latest(found.reviews or ())}
    if "APPROVED" in states:
        return Standing.APPROVED
    return Standing.REVIEW_REQUIRED if found.merge_state_status == "BLOCKED" else Standing.OPEN


def _end(check: _Check) -> str:
    """The result of a check run or a commit status; while it runs its status."""
    return check.conclusion or check.state or check.status or ""


def _latest(reviews: Sequence[_Review]) -> list[_Review]:
    """The last review of each person who may write to the repository; a comment alone changes nothing."""
    last: dict[str, _Review] = {}
    for review in reviews:
        if review.author_association in _TRUSTED and review.state != "COMMENTED":
            last[_login(review.author)] = review
    return list(last.values())


def _asks(review: _Review, commit: Commit) -> bool:
    """Tell if a review asks for changes of this commit, and not of an earlier one."""
    about = review.commit.oid if review.commit else None
    return review.state == "CHANGES_REQUESTED" and about in (None, "", commit)


def _login(person: _Person | None) -> str:
    return (person.login if person else None) or "unknown"


def _review(review: _Review, comments: Sequence[_Comment]) -> Review:
    author = _login(review.author)
    lines = [
        f"{each.path}:{each.line or each.original_line or ''}: {each.body or ''}"
        for each in comments
        if _login(each.user) == author
    ]
    text = "\n".join([review.body or "", *lines]).strip()
    return Review(f"{author}@{review.submitted_at}", author, text)


def forge_of(place: Place, wanted: str, remote: str) -> Forge:
    """The forge that the setting names; `auto`: that of the remote, where its program is installed."""
    repository = repository_of(place.settings.get(f"remote.{remote}.url", ""))
    program = wanted
    if wanted == "auto":
        program = "glab" if "gitlab" in repository.partition("/")[0] else "gh" if repository else "none"
        program = program if shutil.which(program) else "none"
    if program == "none":
        return Patches(place)
    if not shutil.which(program):
        raise EnvironmentProblem(f'forge is "{program}", which is not on the PATH', _INSTALL[program])
    return GitLab(place, repository) if program == "glab" else GitHub(place, repository)


def repository_of(url: str) -> str:
    """HOST/OWNER/NAME of the address of a remote; empty if it has no such form."""
    found = _ADDRESS.fullmatch(url)
    host, path = (found[1], found[2]) if found else ("", "")
    has_groups = "gitlab" in host and path.count("/") > 1
    return f"{host}/{path}" if path.count("/") == 1 or has_groups else ""
