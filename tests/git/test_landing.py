"""Moving main: compare-and-swap, the fence, and the user's own checkouts (W6, D4, I4)."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.git.branch import Advance, Branch
from interlock.git.checkout import CheckoutState
from interlock.git.discover import discover
from interlock.git.errors import UnsafeLanding
from interlock.git.fence import Fence
from interlock.git.journal import Journal, Pending
from interlock.git.repository import GitRepository
from interlock.model.errors import StaleEpoch
from interlock.model.outcome import Landing, Move
from interlock.model.task import Commit, TaskId, Tree
from tests.git.world import World, git, make_world, run, write


def land(world: World, new: Commit, old: Commit, fence: int = 1) -> Move:
    return run(world.repository.land(Landing("main", new, old, fence)))


def test_a_clean_checkout_of_main_follows(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "changed\n", "new/file.txt": "n\n", "src/b.txt": None}, old)
    assert land(world, new, old) is Move.MOVED
    assert world.main == new
    assert world.status() == ""
    assert (world.root / "a.txt").read_text() == "changed\n"
    assert not (world.root / "src").exists()


def test_touched_but_unchanged_files_are_clean(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "changed\n"}, old)
    (world.root / "a.txt").write_text((world.root / "a.txt").read_text())
    assert land(world, new, old) is Move.MOVED
    assert world.status() == ""


@pytest.mark.parametrize("staged", [False, True])
def test_an_edit_of_a_file_that_the_landing_does_not_change_stays(world: World, staged: bool) -> None:
    old = world.main
    new = world.made({"a.txt": "changed\n", "new.txt": "n\n"}, old)
    write(world.root, {"src/b.txt": "mine\n", "mine.txt": "mine\n"})
    if staged:
        git(world.root, "add", "-A")
    before = world.status()
    assert land(world, new, old) is Move.MOVED
    assert (world.main, world.status()) == (new, before)
    assert (world.root / "a.txt").read_text() == "changed\n"
    assert (world.root / "src/b.txt").read_text() == "mine\n"


def test_a_staged_removal_of_another_file_stays(world: World) -> None:
    old = world.main
    git(world.root, "rm", "-q", "src/b.txt")
    assert land(world, world.made({"a.txt": "changed\n"}, old), old) is Move.MOVED
    assert world.status() == "D  src/b.txt"


def test_a_crash_before_the_checkout_followed_is_settled_beside_staged_edits(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "changed\n"}, old)
    write(world.root, {"src/b.txt": "mine\n"})
    git(world.root, "add", "-A")
    Journal(world.place).write(Pending("main", old, new))
    git(world.root, "update-ref", "refs/heads/main", new)
    assert run(world.repository.settle()) == ""
    assert world.status() == "M  src/b.txt"
    assert (world.root / "a.txt").read_text() == "changed\n"


def test_a_merge_with_conflicts_on_main_holds_every_landing(world: World) -> None:
    first = world.main
    world.commit({"a.txt": "mine\n"})
    git(world.root, "merge", world.made({"a.txt": "theirs\n"}, first), check=False)
    old = world.main
    assert land(world, world.made({"z.txt": "z\n"}, old), old) is Move.HELD
    assert "a merge with conflicts" in run(world.repository.checkout()).held


def staged_and_taken_back(root: Path) -> None:
    before = (root / "a.txt").read_text()
    write(root, {"a.txt": "mine\n"})
    git(root, "add", "a.txt")
    write(root, {"a.txt": before})


def forgotten(root: Path) -> None:
    git(root, "rm", "--cached", "-q", "a.txt")


def deleted(root: Path) -> None:
    (root / "a.txt").unlink()


def made_to_run(root: Path) -> None:
    (root / "a.txt").chmod(0o755)


def taken_for_unchanged(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "a.txt")


def not_wanted(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "a.txt")


EDITS = (
    staged_and_taken_back,
    forgotten,
    deleted,
    made_to_run,
    taken_for_unchanged,
    not_wanted,
)


@pytest.mark.parametrize("edit", EDITS, ids=lambda function: function.__name__)
def test_whatever_a_person_did_to_a_file_holds_a_landing_that_changes_it(
    world: World, edit: Callable[[Path], None]
) -> None:
    git(world.root, "status")  # brings the index up to date
    old = world.main
    edit(world.root)
    assert land(world, world.made({"a.txt": "changed\n"}, old), old) is Move.HELD
    assert land(world, world.made({"src/b.txt": "changed\n"}, old), old) is Move.MOVED


@pytest.mark.parametrize("staged", [False, True])
def test_an_edit_of_the_same_file_holds_the_landing_and_is_not_touched(world: World, staged: bool) -> None:
    old = world.main
    new = world.made({"src/b.txt": "changed\n"}, old)
    write(world.root, {"src/b.txt": "mine\n"})
    if staged:
        git(world.root, "add", "-A")
    before = world.status()
    assert land(world, new, old) is Move.HELD
    assert (world.main, world.status()) == (old, before)
    git(world.root, "commit", "-q", "-a", "-m", "mine")
    assert land(world, new, old) is Move.STALE


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("new.txt", "new.txt"),
        ("secret.log", "secret.log"),  # ignored files are no less the user's
        ("folder", "folder/below.txt"),
        ("folder/mine.txt", "folder"),
    ],
)
def test_an_untracked_file_in_the_way_holds_the_landing(world: World, mine: str, theirs: str) -> None:
    old = world.main
    new = world.made({theirs: "theirs\n"}, old)
    write(world.root, {mine: "mine\n"})
    assert land(world, new, old) is Move.HELD
    assert (world.root / mine).read_text() == "mine\n"
    assert world.main == old


def test_a_folder_may_become_a_file_when_all_in_it_is_tracked(world: World) -> None:
    old = world.main
    new = world.made({"src/b.txt": None, "src": "now a file\n"}, old)
    assert land(world, new, old) is Move.MOVED
    assert (world.root / "src").read_text() == "now a file\n"


def test_untracked_files_elsewhere_do_not_matter(world: World) -> None:
    old = world.main
    write(world.root, {"notes.md": "mine\n"})
    assert land(world, world.made({"a.txt": "x\n"}, old), old) is Move.MOVED
    assert (world.root / "notes.md").read_text() == "mine\n"


def test_a_checkout_on_another_branch_is_left_alone(world: World) -> None:
    old = world.main
    git(world.root, "switch", "-q", "-c", "feature")
    write(world.root, {"a.txt": "being edited\n"})
    assert run(world.repository.checkout()).state is CheckoutState.ELSEWHERE
    assert land(world, world.made({"a.txt": "x\n"}, old), old) is Move.MOVED
    assert (world.root / "a.txt").read_text() == "being edited\n"


def test_a_linked_worktree_on_main_follows_or_holds(world: World, tmp_path: Path) -> None:
    old = world.main
    git(world.root, "switch", "-q", "-c", "feature")
    linked = tmp_path / "linked"
    git(world.root, "worktree", "add", "-q", str(linked), "main")
    new = world.made({"a.txt": "x\n"}, old)
    write(linked, {"a.txt": "edit\n"})
    assert land(world, new, old) is Move.HELD
    git(linked, "checkout", "-q", "a.txt")
    assert land(world, new, old) is Move.MOVED
    assert (linked / "a.txt").read_text() == "x\n"
    assert git(linked, "status", "--porcelain") == ""
    assert (world.root / "a.txt").read_text().startswith("one")


def test_a_worktree_that_was_removed_by_hand_is_no_obstacle(world: World, tmp_path: Path) -> None:
    old = world.main
    git(world.root, "switch", "-q", "-c", "feature")
    git(world.root, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    (tmp_path / "linked").rename(tmp_path / "moved-away")
    assert land(world, world.made({"a.txt": "x\n"}, old), old) is Move.MOVED


def test_a_rebase_of_main_under_way_holds_the_landing(world: World) -> None:
    first = world.main
    world.commit({"a.txt": "mine\n"})
    git(world.root, "branch", "other", first)
    other = world.made({"a.txt": "theirs\n"}, first)
    git(world.root, "rebase", other, check=False)
    old = world.main
    assert land(world, world.made({"z.txt": "z\n"}, old), old) is Move.HELD
    assert run(world.repository.checkout()).state is CheckoutState.DIRTY


def test_a_bare_repository_can_be_landed_on(world: World, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(world.root), "bare.git")
    repository = GitRepository(run(discover(tmp_path / "bare.git")))
    old = world.main
    new = run(repository.commit(world.tree(old), old, "same tree\n"))
    assert run(repository.land(Landing("main", new, old, 1))) is Move.MOVED
    assert run(repository.checkout()).state is CheckoutState.BARE


def test_checkout_names_the_dirty_files(world: World) -> None:
    assert run(world.repository.checkout()).state is CheckoutState.CLEAN
    write(world.root, {"a.txt": "x\n", "src/b.txt": "y\n"})
    seen = run(world.repository.checkout())
    assert (seen.state, seen.dirty) == (CheckoutState.DIRTY, ("a.txt", "src/b.txt"))


def test_a_held_ref_lock_means_busy_and_is_reported_never_removed(world: World) -> None:
    git(world.root, "switch", "-q", "-c", "feature")
    old, repository = world.main, world.repository
    lock = world.root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    assert run(repository.land(Landing("main", world.made({"a.txt": "x\n"}, old), old, 1))) is Move.BUSY
    assert lock.exists()
    assert repository.old_locks(older_than_seconds=0) == [lock]
    assert repository.old_locks() == []


def test_a_held_index_lock_means_busy(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)
    (world.root / ".git" / "index.lock").touch()
    assert land(world, new, old) is Move.BUSY
    assert world.main == old
    assert "another git process holds" in run(world.repository.obstacle(Landing("main", new, old, 1)))


def test_while_a_git_process_of_the_person_is_at_work_the_files_are_not_judged(
    world: World,
) -> None:
    """`git stash` is about to take that edit away."""
    old = world.main
    write(world.root, {"a.txt": "edited\n"})
    (world.root / ".git" / "index.lock").touch()
    assert land(world, world.made({"a.txt": "x\n"}, old), old) is Move.BUSY


def test_both_old_values_are_compared_in_the_transaction_itself(world: World) -> None:
    """R3: a controller that passed every check, and then slept, still cannot move main."""
    place, first = world.place, world.main
    fence = Fence(place)
    run(fence.to(4))
    second = world.commit({"c.txt": "c\n"})
    late = Advance("main", world.made({"a.txt": "x\n"}, first), first, "late", fence.object_id(4))
    assert run(Branch(place).move(late)) is Move.STALE
    new = world.made({"a.txt": "x\n"}, second)
    fenced = Advance("main", new, second, "fenced", fence.object_id(3))
    assert run(Branch(place).move(fenced)) is Move.FENCED
    assert world.main == second
    assert world.status() == ""
    good = Advance("main", new, second, "good", fence.object_id(4))
    assert run(Branch(place).move(good)) is Move.MOVED


def test_an_epoch_below_the_fence_is_refused(world: World) -> None:
    old, sleeper = world.main, world.repository
    run(sleeper.raise_fence(4))
    run(world.repository.raise_fence(5))
    new = world.made({"a.txt": "x\n"}, old)
    assert run(sleeper.land(Landing("main", new, old, 4))) is Move.FENCED
    assert world.main == old


def test_the_fence_goes_up_only(world: World) -> None:
    repository = world.repository
    run(repository.raise_fence(7))
    run(repository.raise_fence(7))  # safe to repeat by whoever raised it
    with pytest.raises(StaleEpoch):
        run(repository.raise_fence(6))
    with pytest.raises(StaleEpoch):
        run(world.repository.raise_fence(7))  # another process with the same epoch


@pytest.mark.slow
@pytest.mark.crash
def test_the_lock_of_a_killed_git_does_not_keep_the_fence_from_rising(world: World) -> None:
    run(world.repository.raise_fence(1))
    (world.root / ".git/refs/interlock/fence.lock").touch()
    run(world.repository.raise_fence(2))
    assert git(world.root, "cat-file", "blob", "refs/interlock/fence").startswith("2 ")


@pytest.mark.slow
def test_of_many_who_raise_the_fence_at_once_the_highest_stays(world: World) -> None:
    async def story() -> list[BaseException | None]:
        place = await discover(world.root)
        place.ensure_state()
        tries = [GitRepository(place).raise_fence(epoch) for epoch in (3, 1, 5, 2, 4)]
        return await asyncio.gather(*tries, return_exceptions=True)

    outcomes = run(story())
    assert outcomes[2] is None
    assert all(outcome is None or isinstance(outcome, StaleEpoch) for outcome in outcomes)
    assert git(world.root, "cat-file", "blob", "refs/interlock/fence").startswith("5 ")


def test_deleting_the_state_folder_does_not_lock_the_user_out(world: World) -> None:
    run(world.repository.raise_fence(57))
    (world.root / ".git/interlock" / "lineage").unlink()
    old, fresh = world.main, world.repository
    run(fresh.raise_fence(1))
    assert run(fresh.land(Landing("main", world.made({"a.txt": "x\n"}, old), old, 1))) is Move.MOVED


def test_a_controller_whose_state_folder_was_deleted_cannot_land_any_more(world: World) -> None:
    """D4: whoever started anew since is in charge, however low its epoch."""
    stale = world.repository
    run(stale.raise_fence(57))
    (world.root / ".git/interlock" / "lineage").unlink()
    run(world.repository.raise_fence(1))
    old = world.main
    assert run(stale.land(Landing("main", world.made({"a.txt": "x\n"}, old), old, 57))) is Move.FENCED
    assert world.main == old


def test_a_commit_that_is_not_what_was_tested_is_refused(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)
    with pytest.raises(UnsafeLanding, match="was tested"):
        run(world.repository.land(Landing("main", new, old, 1, Tree(world.tree(old)))))
    assert world.main == old


def test_a_landing_never_drops_commits(world: World) -> None:
    first = world.main
    old = world.commit({"c.txt": "c\n"})
    sideways = world.made({"a.txt": "x\n"}, first)
    with pytest.raises(UnsafeLanding, match="dropped"):
        land(world, sideways, old)
    assert world.main == old


def test_an_unknown_commit_is_not_on_main(world: World) -> None:
    assert not run(world.repository.contains(Commit("12" * 20)))


@pytest.mark.crash
def test_a_crash_between_the_move_and_the_checkout_is_settled(world: World) -> None:
    old, repository = world.main, world.repository
    new = world.made({"a.txt": "x\n", "n.txt": "n\n"}, old)
    interrupted(world, old, new)
    git(world.root, "update-ref", "refs/heads/main", new, old)
    assert world.status() != ""
    assert run(repository.settle()) == ""
    assert world.status() == ""
    assert (world.root / "n.txt").read_text() == "n\n"
    assert run(repository.settle()) == ""


@pytest.mark.crash
def test_a_crash_before_the_move_leaves_nothing_to_settle(world: World) -> None:
    old = world.main
    interrupted(world, old, world.made({"a.txt": "x\n"}, old))
    assert run(world.repository.settle()) == ""
    assert (world.main, world.status()) == (old, "")


@pytest.mark.crash
def test_a_crash_after_the_checkout_followed_changes_nothing(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)
    assert land(world, new, old) is Move.MOVED
    write(world.root, {"a.txt": "edited since\n"})
    interrupted(world, old, new)
    assert run(world.repository.settle()) == ""
    assert (world.root / "a.txt").read_text() == "edited since\n"


@pytest.mark.crash
def test_an_edit_made_after_the_crash_is_never_lost(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)
    interrupted(world, old, new)
    git(world.root, "update-ref", "refs/heads/main", new, old)
    write(world.root, {"a.txt": "mine\n"})
    assert "conflict" in run(world.repository.settle())
    assert (world.root / "a.txt").read_text() == "mine\n"
    again = world.made({"z.txt": "z\n"}, new)
    assert land(world, again, new) is Move.HELD


@pytest.mark.crash
def test_an_edit_elsewhere_stays_while_the_checkout_catches_up(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)
    interrupted(world, old, new)
    git(world.root, "update-ref", "refs/heads/main", new, old)
    write(world.root, {"src/b.txt": "mine\n"})
    assert run(world.repository.settle()) == ""
    assert (world.root / "a.txt").read_text() == "x\n"
    assert world.status() == "M src/b.txt"


def interrupted(world: World, old: str, new: str) -> None:
    """What a landing that was killed leaves on the disk."""
    state = world.root / ".git/interlock"
    world.place.ensure_state()
    (state / "checkout.json").write_text(json.dumps({"branch": "main", "old": old, "new": new}))


def test_a_landing_that_is_cancelled_half_way_finishes_first(world: World) -> None:
    old = world.main
    new = world.made({"a.txt": "x\n"}, old)

    async def story() -> bool:
        repository = GitRepository(await discover(world.root))
        await repository.raise_fence(1)
        work = asyncio.create_task(repository.land(Landing("main", new, old, 1)))
        journal = world.root / ".git/interlock" / "checkout.json"
        while not journal.exists() and not work.done():  # noqa: ASYNC110 - the file is the event
            await asyncio.sleep(0)
        was_written = journal.exists()
        work.cancel()
        await asyncio.wait([work])
        return was_written

    assert run(story())
    assert world.main == new
    assert world.status() == ""


@pytest.mark.slow
def test_filters_of_the_user_apply_to_the_users_checkout(world: World) -> None:
    """Large-file filters live in the user's own configuration; without them every such file looks changed."""
    git(world.root, "config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    git(world.root, "config", "--global", "filter.rot.smudge", "tr a-z n-za-m")
    world.commit({".gitattributes": "*.big filter=rot\n", "x.big": "hello\n"})
    old = world.main
    assert git(world.root, "cat-file", "blob", "HEAD:x.big") == "uryyb"
    new = world.made({"x.big": "jbeyq\n"}, old)
    assert land(world, new, old) is Move.MOVED
    assert (world.root / "x.big").read_text() == "world\n"
    assert world.status() == ""


@pytest.mark.slow
def test_a_submodule_in_the_users_checkout_is_no_obstacle(world: World, tmp_path: Path) -> None:
    library = make_world(tmp_path / "library")
    git(
        world.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library.root),
        "lib",
    )
    old = world.commit({})
    write(world.root / "lib", {"a.txt": "edited inside\n"})
    workspace = run(world.workspaces.open(TaskId("t"), 1, old))
    write(workspace.path, {"a.txt": "x\n"})
    made = run(world.workspaces.collect(workspace, "x\n"))
    assert made.touched == ("a.txt",)
    assert land(world, made.commit, old) is Move.MOVED
    assert (world.root / "lib" / "a.txt").read_text() == "edited inside\n"
    assert (world.root / "a.txt").read_text() == "x\n"


@pytest.mark.slow
def test_a_main_checkout_inside_another_repository(world: World, tmp_path: Path) -> None:
    """A submodule's git dir lies apart from its checkout; it must follow all the same."""
    library = make_world(tmp_path / "library")
    git(
        world.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library.root),
        "lib",
    )
    inner = World(world.root / "lib")
    assert inner.place.state == world.root / ".git" / "modules" / "lib" / "interlock"
    old = Commit(git(inner.root, "rev-parse", "main"))
    tree = git(inner.root, "rev-parse", "main^{tree}")
    new = Commit(git(inner.root, "commit-tree", tree, "-p", old, "-m", "empty"))
    assert run(inner.repository.checkout()).path == inner.root
    assert land(inner, new, old) is Move.MOVED
    assert git(inner.root, "status", "--porcelain") == ""
