"""What a forge says, read: addresses, standings, reviews; and merges found on the branch (T7, B1)."""

import json
import os
import signal
import subprocess
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.git.child import Drain
from interlock.git.command import finish
from interlock.git.errors import GitFailed
from interlock.git.forge import GitHub, Patches, Viewed, forge_of, repository_of, standing_of
from interlock.git.forge_program import ForgeFailed
from interlock.git.gitlab import GitLab
from interlock.git.merged import merged_as
from interlock.model.pull_request import Proposal, Proposed, Review, Standing
from interlock.model.task import Commit, TaskId
from tests.git.world import World, git, run

OPEN = {"state": "OPEN", "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviews": []}


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/owner/name.git", "github.com/owner/name"),
        ("https://github.com/owner/name/", "github.com/owner/name"),
        ("git@github.example.org:owner/na.me", "github.example.org/owner/na.me"),
        ("ssh://git@github.com:22/owner/name.git", "github.com/owner/name"),
        ("https://gitlab.com/group/sub/name.git", "gitlab.com/group/sub/name"),
        ("https://example.org/some/long/name.git", ""),
        ("/srv/git/name.git", ""),
        ("", ""),
    ],
)
def test_the_repository_is_read_from_the_address_of_the_remote(url: str, repository: str) -> None:
    assert repository_of(url) == repository


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        ({}, Standing.OPEN),
        ({"state": "MERGED"}, Standing.MERGED),
        ({"state": "CLOSED"}, Standing.CLOSED),
        ({"mergeable": "CONFLICTING"}, Standing.CONFLICTS),
        ({"mergeStateStatus": "BEHIND"}, Standing.BEHIND),
        ({"isDraft": True}, Standing.DRAFT),
        ({"statusCheckRollup": [{"state": "PENDING"}]}, Standing.CHECKS_PENDING),
        ({"statusCheckRollup": [{"status": "QUEUED", "conclusion": ""}]}, Standing.CHECKS_PENDING),
        (
            {"statusCheckRollup": [{"conclusion": "SUCCESS"}, {"conclusion": "TIMED_OUT"}]},
            Standing.CHECKS_FAILED,
        ),
        ({"mergeStateStatus": "BLOCKED"}, Standing.REVIEW_REQUIRED),
        ({"reviews": [{"authorAssociation": "OWNER", "state": "APPROVED"}]}, Standing.APPROVED),
        ({"reviews": [{"authorAssociation": "NONE", "state": "APPROVED"}]}, Standing.OPEN),
    ],
)
def test_the_fields_say_what_a_pull_request_waits_for(change: dict[str, Any], standing: Standing) -> None:
    assert standing_of(msgspec.convert({**OPEN, **change}, Viewed)) is standing


def gh_that_prints(folder: Path, text: str, code: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "said").write_text(text)
    (folder / "gh").write_text(f'#!/bin/sh\ncat "{folder}/said"\necho "not logged in" >&2\nexit {code}\n')
    (folder / "gh").chmod(0o755)


def review(state: str, at: int, **more: object) -> dict[str, object]:
    plain = {
        "author": {"login": "grace"},
        "authorAssociation": "MEMBER",
        "commit": {"oid": "c1"},
        "body": "b",
    }
    return {**plain, "state": state, "submittedAt": str(at), **more}


@pytest.mark.parametrize(
    ("reviews", "counts"),
    [
        ([review("CHANGES_REQUESTED", 1)], True),
        ([review("CHANGES_REQUESTED", 1), review("COMMENTED", 2)], True),
        ([review("CHANGES_REQUESTED", 1), review("APPROVED", 2)], False),
        ([review("CHANGES_REQUESTED", 1), review("DISMISSED", 2)], False),
        ([review("CHANGES_REQUESTED", 1, commit={"oid": "c0"})], False),
        ([review("CHANGES_REQUESTED", 1, authorAssociation="CONTRIBUTOR")], False),
    ],
)
def test_only_the_last_review_of_a_person_who_may_write_counts_for_the_commit_that_it_saw(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reviews: list[object], counts: bool
) -> None:
    class Canned(GitHub):
        async def _gh(self, *words: str) -> bytes:
            return b"[]" if words[0] == "api" else json.dumps({**OPEN, "reviews": reviews}).encode()

    found = run(Canned(world.place).view(7, Commit("c1")))
    assert bool(found.reviews) is counts
    assert (found.standing is Standing.CHANGES_REQUESTED) is counts


@pytest.mark.parametrize(("text", "code"), [("", 1), ("no json", 0)])
def test_a_program_that_fails_or_prints_something_else_is_named(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    gh_that_prints(tmp_path / "bin", text, code)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    with pytest.raises(ForgeFailed, match="`gh pr view 7` failed: "):
        run(GitHub(world.place).view(7, Commit("c1")))


def test_a_program_that_cannot_be_executed_is_named(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh_that_prints(tmp_path / "bin", "")
    (tmp_path / "bin/gh").write_bytes(b"\x7fELF")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    with pytest.raises(ForgeFailed, match="gh cannot be started: Exec format error"):
        run(GitHub(world.place).view(7, Commit("c1")))


def test_a_program_that_never_stops_printing_is_ended(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh_that_prints(tmp_path / "bin", "")
    (tmp_path / "bin/gh").write_text("#!/bin/sh\nyes >&2 & exec yes\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    with pytest.raises(ForgeFailed, match="it printed more than 16 MiB"):
        run(GitHub(world.place).view(7, Commit("c1")))


def test_a_program_whose_child_keeps_its_pipes_open_is_given_up(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child left the process group, so no signal to the group reaches it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text('#!/bin/sh\nsetsid sh -c \'echo $$ > "$0.child"; exec sleep 60\' "$0"\n')
    (tmp_path / "bin/gh").chmod(0o755)
    process = subprocess.Popen(
        [tmp_path / "bin/gh"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    began = time.monotonic()
    with pytest.raises(GitFailed, match="its time limit"):
        run(finish(process, "gh", Drain(BytesIO(), None), 0.5))
    os.kill(int((tmp_path / "bin/gh.child").read_text()), signal.SIGKILL)
    assert time.monotonic() - began < 30


def test_a_program_that_is_gone_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = world.place
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ForgeFailed, match="`gh pr view 7` failed: gh is not on the PATH"):
        run(GitHub(place).view(7, Commit("c1")))


def test_without_a_forge_in_its_address_a_remote_gets_patches(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh_that_prints(tmp_path / "bin", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert isinstance(forge_of(world.place, "auto", "origin"), Patches)
    assert isinstance(forge_of(world.place, "gh", "origin"), GitHub)


def squash(world: World, base: Commit, commit: Commit) -> None:
    git(world.root, "merge", "-q", "--squash", commit)
    git(world.root, "commit", "-qm", "squashed")


def pick(world: World, base: Commit, commit: Commit) -> None:
    world.commit({"theirs.txt": "1\n"})
    git(world.root, "cherry-pick", commit)


def merge(world: World, base: Commit, commit: Commit) -> None:
    world.commit({"theirs.txt": "1\n"})
    git(world.root, "merge", "-q", "--no-edit", commit)


def forward(world: World, base: Commit, commit: Commit) -> None:
    git(world.root, "merge", "-q", "--ff-only", commit)
    world.commit({"theirs.txt": "1\n"})


def nothing(world: World, base: Commit, commit: Commit) -> None:
    world.commit({"theirs.txt": "1\n"})


@pytest.mark.parametrize(
    ("how", "name"), [(squash, "HEAD"), (pick, "HEAD"), (merge, "HEAD"), (forward, "proposed"), (nothing, "")]
)
def test_a_merge_is_found_however_it_was_made(world: World, how: Any, name: str) -> None:
    base = world.main
    commit = world.made({"a.txt": "proposed\n"}, base)
    assert run(merged_as(world.place, base, commit)) is None
    how(world, base, commit)
    found = run(merged_as(world.place, base, commit))
    expected = commit if name == "proposed" else git(world.root, "rev-parse", name) if name else None
    assert (found.commit if found else None) == expected


GLAB = """\
#!/usr/bin/env python3
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
words = sys.argv[1:]
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")
answers = json.loads((folder / "answers").read_text())
path = next(word for word in words if word.startswith("projects/"))
key = f"{words[2]} {path.partition('merge_requests')[2].partition('?')[0]}".strip()
if key not in answers:
    sys.exit("glab: 404 Not Found (HTTP 404)")
print(json.dumps(answers[key]))
"""


class Glab:
    """A `glab` that answers as it was told, and remembers what it was asked."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self._folder = folder
        (folder / "glab").write_text(GLAB)
        (folder / "glab").chmod(0o755)
        patch.setenv("PATH", str(folder), prepend=":")

    def answer(self, answers: dict[str, object]) -> None:
        (self._folder / "answers").write_text(json.dumps(answers))

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self._folder / "calls").read_text().splitlines()]


PROPOSAL = Proposal(TaskId("a"), "T", "B", "interlock/a", "main", Commit("c1"), Commit("m0"), ("x", "y"))
REQUEST_URL = "https://gitlab.com/g/n/-/merge_requests/7"
REQUEST = {"iid": 7, "web_url": REQUEST_URL}


@pytest.fixture
def glab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Glab:
    return Glab(tmp_path / "bin", monkeypatch)


def test_a_merge_request_is_opened_once_and_then_updated(world: World, glab: Glab) -> None:
    forge = GitLab(world.place, "gitlab.com/g/sub/n")
    glab.answer({"GET": [], "POST": REQUEST})
    assert run(forge.propose(PROPOSAL)) == Proposed(7, REQUEST_URL)
    glab.answer({"GET": [REQUEST], "PUT /7": REQUEST})
    assert run(forge.propose(PROPOSAL)) == Proposed(7, REQUEST_URL)
    look, created, _, updated = glab.calls
    assert look[:5] == ["api", "--method", "GET", "--hostname", "gitlab.com"]
    assert look[5] == (
        "projects/g%2Fsub%2Fn/merge_requests?state=opened&source_branch=interlock%2Fa&target_branch=main"
    )
    assert {"source_branch=interlock/a", "target_branch=main", "title=T", "labels=x,y"} <= {*created}
    assert updated[2:6:3] == ["PUT", "projects/g%2Fsub%2Fn/merge_requests/7"]


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        ({"state": "merged", "merge_commit_sha": "c9"}, Standing.MERGED),
        ({"state": "closed"}, Standing.CLOSED),
        ({"detailed_merge_status": "mergeable"}, Standing.OPEN),
        ({"detailed_merge_status": "conflict"}, Standing.CONFLICTS),
        ({"detailed_merge_status": "need_rebase"}, Standing.BEHIND),
        ({"detailed_merge_status": "draft_status"}, Standing.DRAFT),
        ({"detailed_merge_status": "ci_still_running"}, Standing.CHECKS_PENDING),
        ({"detailed_merge_status": "ci_must_pass"}, Standing.CHECKS_FAILED),
        ({"detailed_merge_status": "not_approved"}, Standing.REVIEW_REQUIRED),
    ],
)
def test_the_state_of_a_merge_request_is_read(
    world: World, glab: Glab, change: dict[str, object], standing: Standing
) -> None:
    glab.answer({"GET /7": {"state": "opened", **change}, "GET /7/reviewers": []})
    assert run(GitLab(world.place).view(7, Commit("c1"))).standing is standing
    assert glab.calls[0][-1] == "projects/:fullpath/merge_requests/7"


def test_a_reviewer_who_requests_changes_sends_all_notes_of_theirs(world: World, glab: Glab) -> None:
    def note(number: int, author: str, body: str, **more: object) -> dict[str, object]:
        return {"id": number, "author": {"username": author}, "body": body, "system": False, **more}

    notes = [
        note(1, "grace", "Say it better."),
        note(2, "stranger", "no"),
        note(3, "grace", "this word", position={"new_path": "a.txt", "new_line": 4}),
        note(4, "grace", "requested changes", system=True),
    ]
    people = [
        {"user": {"username": "grace"}, "state": "requested_changes"},
        {"user": {"username": "bob"}, "state": "approved"},
    ]
    glab.answer({"GET /7": {"state": "opened"}, "GET /7/reviewers": people, "GET /7/notes": notes})
    found = run(GitLab(world.place).view(7, Commit("c1")))
    assert found.standing is Standing.CHANGES_REQUESTED
    assert found.reviews == (Review("grace@3", "grace", "Say it better.\na.txt:4: this word"),)


@pytest.mark.parametrize(
    "answers",
    [
        {"GET /7": [], "GET /7/reviewers": []},
        {"GET /7": {"state": None}},
        {"GET /7": {"state": "merged", "sha": 7}},
        {"GET /7": {"state": "opened"}, "GET /7/reviewers": [{"user": None, "state": "requested_changes"}]},
    ],
)
def test_an_answer_of_gitlab_of_another_shape_is_its_failure(
    world: World, glab: Glab, answers: dict[str, object]
) -> None:
    glab.answer(answers)
    with pytest.raises(ForgeFailed, match="it printed another answer than expected"):
        run(GitLab(world.place).view(7, Commit("c1")))


def test_a_merge_request_that_was_opened_without_a_number_is_a_failure(world: World, glab: Glab) -> None:
    for odd in ({"iid": -1, "web_url": "u"}, {"iid": 7, "web_url": "a\nb"}, {"web_url": "u"}, None):
        glab.answer({"GET": [], "POST": odd})
        with pytest.raises(ForgeFailed, match="it printed another answer than expected"):
            run(GitLab(world.place).propose(PROPOSAL))


def test_an_error_of_gitlab_is_named(world: World, glab: Glab) -> None:
    glab.answer({})
    with pytest.raises(ForgeFailed, match=r"`glab api --method PUT` failed: glab: 404 Not Found"):
        run(GitLab(world.place).merge_when_ready(7, Commit("c1")))
