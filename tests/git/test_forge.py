"""What a forge says, read: addresses, standings, reviews; and merges found on the branch (T7, B1)."""

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.git.forge import ForgeFailed, GitHub, Patches, forge_of, repository_of, standing_of
from interlock.git.merged import merged_as
from interlock.model.pull_request import Standing
from interlock.model.task import Commit
from tests.git.world import World, git, run

OPEN = {"state": "OPEN", "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviews": []}


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/owner/name.git", "github.com/owner/name"),
        ("https://github.com/owner/name/", "github.com/owner/name"),
        ("git@github.example.org:owner/na.me", "github.example.org/owner/na.me"),
        ("ssh://git@github.com:22/owner/name.git", "github.com/owner/name"),
        ("https://gitlab.com/group/sub/name.git", ""),
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
    assert standing_of({**OPEN, **change}) is standing


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


def nothing(world: World, base: Commit, commit: Commit) -> None:
    world.commit({"theirs.txt": "1\n"})


@pytest.mark.parametrize(
    ("how", "name"), [(squash, "HEAD"), (pick, "HEAD"), (merge, "proposed"), (nothing, "")]
)
def test_a_merge_is_found_however_it_was_made(world: World, how: Any, name: str) -> None:
    base = world.main
    commit = world.made({"a.txt": "proposed\n"}, base)
    assert run(merged_as(world.place, base, commit)) is None
    how(world, base, commit)
    found = run(merged_as(world.place, base, commit))
    expected = commit if name == "proposed" else git(world.root, "rev-parse", name) if name else None
    assert (found.commit if found else None) == expected
