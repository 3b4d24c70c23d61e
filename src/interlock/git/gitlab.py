"""Proposes tested changes as merge requests of GitLab, through `glab api`. The rules are those of `forge`."""

from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

import msgspec

from interlock.git.forge_program import Number, Url, commit_of, read_answer, start_forge
from interlock.git.place import Place
from interlock.model.pull_request import Proposal, Proposed, PullRequest, Review, Standing
from interlock.model.task import Commit

_ENDED = {"merged": Standing.MERGED, "closed": Standing.CLOSED}
_DETAILS = {
    "conflict": Standing.CONFLICTS,
    "need_rebase": Standing.BEHIND,
    "draft_status": Standing.DRAFT,
    "ci_still_running": Standing.CHECKS_PENDING,
    "ci_must_pass": Standing.CHECKS_FAILED,
    "not_approved": Standing.REVIEW_REQUIRED,
}
_NOTES = 20
"""The most notes of a reviewer that the agent gets."""
_T = TypeVar("_T")


class _Open(msgspec.Struct):
    iid: Number
    web_url: Url


class _Viewed(msgspec.Struct):
    state: str
    detailed_merge_status: str | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    sha: str | None = None


class _Person(msgspec.Struct):
    username: str


class _Reviewer(msgspec.Struct):
    user: _Person
    state: str | None = None


class _Position(msgspec.Struct):
    new_path: str | None = None
    new_line: int | None = None


class _Note(msgspec.Struct):
    id: int
    author: _Person
    body: str | None = None
    system: bool | None = None
    position: _Position | None = None


@dataclass(frozen=True, slots=True)
class GitLab:
    """GitLab, through `glab`."""

    place: Place
    repository: str = ""
    """HOST/GROUP/NAME; empty: `glab` finds it from the remotes."""

    async def propose(self, proposal: Proposal) -> Proposed:
        texts = {"title": proposal.title, "description": proposal.body}
        where = f"source_branch={quote(proposal.branch, '')}&target_branch={quote(proposal.base_branch, '')}"
        open_now = await self._read(list[_Open], f"?state=opened&{where}")
        if open_now:
            found = await self._api(_Open, "PUT", f"/{open_now[0].iid}", **texts)
        else:
            branches = {"source_branch": proposal.branch, "target_branch": proposal.base_branch}
            labels = {"labels": ",".join(proposal.labels)} if proposal.labels else {}
            found = await self._api(_Open, "POST", "", **branches, **texts, **labels)
        return Proposed(found.iid, found.web_url)

    async def view(self, number: int, commit: Commit) -> PullRequest:  # noqa: ARG002 - see Forge
        found = await self._read(_Viewed, f"/{number}")
        if end := _ENDED.get(found.state):
            merged = found.merge_commit_sha or found.squash_commit_sha or found.sha
            return PullRequest(end, commit_of(merged))
        people = await self._read(list[_Reviewer], f"/{number}/reviewers")
        asked = [each.user.username for each in people if each.state == "requested_changes"]
        path = f"/{number}/notes?sort=asc&per_page=100"
        notes = await self._read(list[_Note], path) if asked else []
        return PullRequest(_standing(found, asked), reviews=tuple(_review(name, notes) for name in asked))

    async def merge_when_ready(self, number: int, commit: Commit) -> None:
        await self._api(object, "PUT", f"/{number}/merge", merge_when_pipeline_succeeds="true", sha=commit)

    async def try_out(self) -> str:
        await self._read(list[_Open], "?state=opened&per_page=1")
        return f"as merge requests by glab{f' on {self.repository}' if self.repository else ''}"

    async def _read(self, shape: type[_T], path: str) -> _T:
        return await self._api(shape, "GET", path)

    async def _api(self, shape: type[_T], method: str, path: str, **fields: str) -> _T:
        host, _, project = self.repository.partition("/")
        name = quote(project, "") if project else ":fullpath"
        given = [word for key, value in fields.items() for word in ("--raw-field", f"{key}={value}")]
        where = ("--hostname", host) if host else ()
        words = ("api", "--method", method, *where, f"projects/{name}/merge_requests{path}", *given)
        said = await start_forge(self.place, "glab", words, NO_PROMPT="true", GLAB_CHECK_UPDATE="false")
        return read_answer("glab", words, said, shape)


def _standing(found: _Viewed, asked: list[str]) -> Standing:
    detail = _DETAILS.get(found.detailed_merge_status or "")
    if detail in (Standing.CONFLICTS, Standing.BEHIND) or not asked:
        return detail or Standing.OPEN
    return Standing.CHANGES_REQUESTED


def _review(author: str, notes: list[_Note]) -> Review:
    """The notes of a reviewer. GitLab does not say which commit was meant: a new note makes a new review."""
    own = [each for each in notes if not each.system and each.author.username == author]
    last = own[-1].id if own else 0
    return Review(f"{author}@{last}", author, "\n".join(map(_line, own[-_NOTES:])))


def _line(note: _Note) -> str:
    place = note.position
    at = f"{place.new_path}:{place.new_line or ''}: " if place and place.new_path else ""
    return f"{at}{note.body or ''}"
