"""Proposes tested changes as merge requests of GitLab, through `glab api`. The rules are those of `forge`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from interlock.git.forge_program import printed_json, start_forge
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


@dataclass(frozen=True, slots=True)
class GitLab:
    """GitLab, through `glab`."""

    place: Place
    repository: str = ""
    """HOST/GROUP/NAME; empty: `glab` finds it from the remotes."""

    async def propose(self, proposal: Proposal) -> Proposed:
        texts = {"title": proposal.title, "description": proposal.body}
        where = f"source_branch={quote(proposal.branch, '')}&target_branch={quote(proposal.base_branch, '')}"
        open_now = await self._api("GET", f"?state=opened&{where}")
        if open_now:
            found = await self._api("PUT", f"/{open_now[0]['iid']}", **texts)
        else:
            branches = {"source_branch": proposal.branch, "target_branch": proposal.base_branch}
            labels = {"labels": ",".join(proposal.labels)} if proposal.labels else {}
            found = await self._api("POST", "", **branches, **texts, **labels)
        return Proposed(int(found["iid"]), str(found["web_url"]))

    async def view(self, number: int, commit: Commit) -> PullRequest:  # noqa: ARG002 - see Forge
        found = await self._api("GET", f"/{number}")
        merged = str(
            found.get("merge_commit_sha") or found.get("squash_commit_sha") or found.get("sha") or ""
        )
        if end := _ENDED.get(str(found["state"])):
            return PullRequest(end, Commit(merged))
        people = await self._api("GET", f"/{number}/reviewers")
        asked = [str(each["user"]["username"]) for each in people if each["state"] == "requested_changes"]
        notes = await self._api("GET", f"/{number}/notes?sort=asc&per_page=100") if asked else []
        return PullRequest(_standing(found, asked), reviews=tuple(_review(name, notes) for name in asked))

    async def merge_when_ready(self, number: int, commit: Commit) -> None:
        await self._api("PUT", f"/{number}/merge", merge_when_pipeline_succeeds="true", sha=commit)

    async def try_out(self) -> str:
        await self._api("GET", "?state=opened&per_page=1")
        return f"as merge requests by glab{f' on {self.repository}' if self.repository else ''}"

    async def _api(self, method: str, path: str, **fields: str) -> Any:  # Any: JSON
        host, _, project = self.repository.partition("/")
        name = quote(project, "") if project else ":fullpath"
        given = [word for key, value in fields.items() for word in ("--raw-field", f"{key}={value}")]
        where = ("--hostname", host) if host else ()
        words = ("api", "--method", method, *where, f"projects/{name}/merge_requests{path}", *given)
        said = await start_forge(self.place, "glab", words, NO_PROMPT="true", GLAB_CHECK_UPDATE="false")
        return printed_json("glab", words, said)


# Any: JSON of GitLab, from here on.
def _standing(found: dict[str, Any], asked: list[str]) -> Standing:
    detail = _DETAILS.get(str(found.get("detailed_merge_status")))
    if detail in (Standing.CONFLICTS, Standing.BEHIND) or not asked:
        return detail or Standing.OPEN
    return Standing.CHANGES_REQUESTED


def _review(author: str, notes: list[dict[str, Any]]) -> Review:
    """The notes of a reviewer. GitLab does not say which commit was meant: a new note makes a new review."""
    own = [each for each in notes if not each.get("system") and each["author"]["username"] == author]
    last = own[-1]["id"] if own else 0
    return Review(f"{author}@{last}", author, "\n".join(map(_line, own[-_NOTES:])))


def _line(note: dict[str, Any]) -> str:
    place = note.get("position") or {}
    at = f"{place['new_path']}:{place.get('new_line') or ''}: " if place.get("new_path") else ""
    return f"{at}{note.get('body') or ''}"
