"""Pushes of tested commits: only forward, only from the commit that is expected there (T7, B8, B9)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.git import push
from interlock.git.discover import discover
from interlock.git.errors import UnsafeLanding
from interlock.git.place import Place
from interlock.git.push import CannotPush, Push, PushOutcome, last_words, push_landing, refuse_unready
from interlock.git.upstream import Upstream
from interlock.model.outcome import Landing
from interlock.model.task import Commit, Tree
from tests.git.world import World, git, run


@pytest.fixture
def remote(world: World, tmp_path: Path) -> Path:
    """A bare repository that main of the world follows."""
    bare = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(world.root), str(bare))
    git(world.root, "remote", "add", "origin", str(bare))
    git(world.root, "fetch", "-q")
    git(world.root, "branch", "-q", "--set-upstream-to=origin/main", "main")
    return bare


def a_landing(world: World, old: Commit) -> Landing:
    new = world.made({"a.txt": "tested\n"}, old)
    return Landing("main", new, old, 1, Tree(git(world.root, "rev-parse", f"{new}^{{tree}}")), "a")


def theirs(world: World, remote: Path) -> Commit:
    """A commit of a colleague that only the remote has."""
    commit = world.made({"theirs.txt": "1\n"}, world.main)
    git(world.root, "push", "-q", str(remote), f"{commit}:refs/heads/main")
    return commit


def test_the_tested_commit_goes_to_the_remote_and_main_stays_for_the_landing(
    world: World, remote: Path
) -> None:
    landing = a_landing(world, world.main)
    for _ in range(2):  # also after a crash, when it is there already
        assert run(push_landing(world.place, landing)) == Push(PushOutcome.PUSHED, "origin/main")
        assert git(remote, "rev-parse", "main") == landing.new
        assert world.main == landing.old


def lost_after(world: World, remote: Path) -> tuple[PushOutcome, bool]:
    """The end of a push that a colleague was faster than; and if their commit is gone from the remote."""
    other = theirs(world, remote)
    outcome = run(push_landing(world.place, a_landing(world, world.main))).outcome
    return outcome, other not in git(remote, "rev-list", "main").splitlines()


def test_a_push_takes_nothing_away_that_a_colleague_pushed(world: World, remote: Path) -> None:
    assert lost_after(world, remote) == (PushOutcome.BEHIND, False)


def test_the_test_above_notices_a_push_without_a_lease(
    world: World, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: a push by force that names no commit to expect."""
    real = push._push

    async def by_force(place: Place, upstream: Upstream, refspec: str, *words: str) -> str:
        return await real(place, upstream, f"+{refspec}", *(w for w in words if "lease" not in w))

    monkeypatch.setattr(push, "_push", by_force)
    assert lost_after(world, remote) == (PushOutcome.PUSHED, True)


def test_a_commit_that_was_not_tested_or_drops_others_is_never_pushed(world: World, remote: Path) -> None:
    old = world.main
    new = world.made({"a.txt": "tested\n"}, old)
    aside = Commit(git(world.root, "commit-tree", "-m", "aside", f"{old}^{{tree}}"))
    for landing in (
        Landing("main", new, old, 1, Tree(git(world.root, "rev-parse", f"{old}^{{tree}}"))),
        Landing("main", aside, old, 1),
    ):
        with pytest.raises(UnsafeLanding):
            run(push_landing(world.place, landing))
    assert git(remote, "rev-parse", "main") == old


def refuse(remote: Path) -> None:
    hook = remote / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'protected' >&2; exit 1\n")
    hook.chmod(0o755)


def move_back(remote: Path) -> None:
    git(remote, "update-ref", "refs/heads/main", git(remote, "commit-tree", "-m", "x", "main^{tree}"))


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (refuse, PushOutcome.REFUSED),
        (move_back, PushOutcome.UNPUSHED),
        (lambda remote: remote.rename(remote.with_suffix(".gone")), PushOutcome.UNREACHABLE),
    ],
    ids=["refused", "rewritten", "gone"],
)
def test_the_refs_say_why_a_push_failed(
    world: World, remote: Path, change: Callable[[Path], None], outcome: PushOutcome
) -> None:
    change(remote)
    push = run(push_landing(world.place, a_landing(world, world.main)))
    assert push.outcome is outcome
    assert push.text
    assert world.main != git(world.root, "rev-parse", "origin/main") or outcome is not PushOutcome.UNPUSHED


def test_a_remote_that_would_start_a_program_is_not_used(world: World, remote: Path, tmp_path: Path) -> None:
    """B9: even if somebody wrote it into the configuration."""
    git(world.root, "config", "protocol.ext.allow", "always")
    git(world.root, "remote", "set-url", "origin", f"ext::sh -c touch% {tmp_path}/ran")
    assert run(push_landing(world.place, a_landing(world, world.main))).outcome is PushOutcome.UNREACHABLE
    assert not (tmp_path / "ran").exists()


def test_a_branch_that_follows_none_or_one_of_this_repository_is_named(world: World, remote: Path) -> None:
    git(world.root, "branch", "-q", "other")
    for words in (["--unset-upstream"], ["--set-upstream-to=other"]):
        git(world.root, "branch", "-q", *words, "main")
        with pytest.raises(CannotPush, match="follows no branch of a remote"):
            run(refuse_unready(run(discover(world.root))))


def test_no_password_of_an_address_is_kept() -> None:
    said = "fatal: unable to access 'https://ada:secret@example.org/x.git/': refused\n"
    assert last_words(said) == "fatal: unable to access 'https://example.org/x.git/': refused"
