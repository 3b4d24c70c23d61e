"""What every Repository promises, asked of real git and of the fake the simulation runs on."""

import contextlib
import time
from collections.abc import Mapping
from typing import Protocol

import pytest

from interlock.git.protocol import Repository
from interlock.model.errors import StaleEpoch
from interlock.model.outcome import Landing, Merge, Move
from interlock.model.task import Change, Commit
from tests.git.world import World, git, run
from tests.sim.fake_git import FakeRepository

pytestmark = pytest.mark.contract

START = {"a.txt": "one\ntwo\nthree\n", "src/b.txt": "b\n"}
Changes = Mapping[str, str | None]


class Side(Protocol):
    """One implementation, and a way to have commits in it."""

    @property
    def repository(self) -> Repository: ...

    def write(self, changes: Changes, parent: Commit) -> Commit: ...

    def push(self, changes: Changes) -> Commit: ...


class RealSide:
    def __init__(self, world: World) -> None:
        git(world.root, "switch", "-q", "-c", "elsewhere")
        self.world = world
        self.repository: Repository = world.repository

    def write(self, changes: Changes, parent: Commit) -> Commit:
        return self.world.made(dict(changes), parent)

    def push(self, changes: Changes) -> Commit:
        new = self.write(changes, self.world.main)
        git(self.world.root, "update-ref", "refs/heads/main", new)
        return new


class FakeSide:
    def __init__(self) -> None:
        self.fake = FakeRepository(START)
        self.repository: Repository = self.fake

    def write(self, changes: Changes, parent: Commit) -> Commit:
        return self.fake.write(changes, parent, "made\n")

    def push(self, changes: Changes) -> Commit:
        return self.fake.push(changes, "made\n")


@pytest.fixture(params=["git", "fake"])
def side(request: pytest.FixtureRequest) -> Side:
    if request.param == "fake":
        return FakeSide()
    world: World = request.getfixturevalue("world")
    return RealSide(world)


def tip(side: Side) -> Commit:
    return run(side.repository.tip()).commit


def land(side: Side, new: Commit, old: Commit, fence: int = 1) -> Move:
    return run(side.repository.land(Landing("main", new, old, fence)))


def test_the_tip_names_branch_commit_and_tree(side: Side) -> None:
    new = side.push({"c.txt": "c\n"})
    seen = run(side.repository.tip())
    assert (seen.branch, seen.commit) == ("main", new)
    assert seen.tree not in ("", new)


def test_the_same_files_are_the_same_tree(side: Side) -> None:
    first = run(side.repository.tip())
    side.push({"c.txt": "c\n"})
    assert run(side.repository.tip()).tree != first.tree
    side.push({"c.txt": None})
    assert run(side.repository.tip()).tree == first.tree


def test_without_an_upstream_a_fetch_says_nothing(side: Side) -> None:
    assert run(side.repository.fetch()) == ""


def test_changes_to_different_files_merge(side: Side) -> None:
    base = tip(side)
    work = side.write({"mine.txt": "m\n"}, base)
    onto = side.push({"theirs.txt": "t\n"})
    merge = run(side.repository.merge(onto, work, base))
    assert merge.conflicts == ()
    side.push({"mine.txt": "m\n"})
    assert merge.tree == run(side.repository.tip()).tree


async def as_it_is(merge: Merge) -> Merge:
    return merge


def test_several_changes_merge_one_after_the_other(side: Side) -> None:
    base = tip(side)
    one, other = side.write({"one.txt": "1\n"}, base), side.write({"other.txt": "2\n"}, base)
    onto = side.push({"theirs.txt": "t\n"})
    *_, merge = run(side.repository.merge_all(onto, [Change(one, base), Change(other, base)], as_it_is))
    side.push({"one.txt": "1\n", "other.txt": "2\n"})
    assert merge.tree == run(side.repository.tip()).tree


def test_a_merge_of_several_changes_ends_at_the_first_conflict(side: Side) -> None:
    base = tip(side)
    one, other = side.write({"a.txt": "one\n"}, base), side.write({"a.txt": "other\n"}, base)
    last = side.write({"last.txt": "l\n"}, base)
    changes = [Change(commit, base) for commit in (one, other, last)]
    assert run(side.repository.merge_all(base, changes, as_it_is))[-1].conflicts == ("a.txt",)


def test_changes_are_merged_onto_a_conflict_that_was_resolved(side: Side) -> None:
    base = tip(side)
    one, other = side.write({"a.txt": "one\n"}, base), side.write({"a.txt": "other\n"}, base)
    last = side.write({"last.txt": "l\n"}, base)
    both = run(side.repository.merge(base, side.write({"a.txt": "both\n"}, base), base))

    async def resolve(merge: Merge) -> Merge:
        return both if merge.conflicts else merge

    changes = [Change(commit, base) for commit in (one, other, last)]
    *_, merge = run(side.repository.merge_all(base, changes, resolve))
    side.push({"a.txt": "both\n", "last.txt": "l\n"})
    assert merge.tree == run(side.repository.tip()).tree


def test_the_same_change_on_both_sides_merges(side: Side) -> None:
    base = tip(side)
    work = side.write({"a.txt": "same\n"}, base)
    onto = side.push({"a.txt": "same\n"})
    assert run(side.repository.merge(onto, work, base)).tree == run(side.repository.tip()).tree


def test_a_removal_merges(side: Side) -> None:
    base = tip(side)
    work = side.write({"src/b.txt": None}, base)
    onto = side.push({"c.txt": "c\n"})
    merge = run(side.repository.merge(onto, work, base))
    side.push({"src/b.txt": None})
    assert merge.tree == run(side.repository.tip()).tree


def test_different_changes_to_one_file_conflict(side: Side) -> None:
    base = tip(side)
    work = side.write({"a.txt": "mine\n"}, base)
    onto = side.push({"a.txt": "theirs\n"})
    merge = run(side.repository.merge(onto, work, base))
    assert (merge.tree, merge.conflicts) == (None, ("a.txt",))
    assert "a.txt" in merge.text


def test_changing_what_the_other_removed_conflicts(side: Side) -> None:
    base = tip(side)
    work = side.write({"a.txt": "mine\n"}, base)
    onto = side.push({"a.txt": None})
    assert run(side.repository.merge(onto, work, base)).conflicts == ("a.txt",)


def test_merging_moves_nothing(side: Side) -> None:
    base = tip(side)
    run(side.repository.merge(base, side.write({"x": "x\n"}, base), base))
    assert tip(side) == base


def test_a_commit_is_on_the_branch_only_once_it_has_landed(side: Side) -> None:
    old = run(side.repository.tip())
    new = run(side.repository.commit(old.tree, old.commit, "Title\n\nInterlock-Task: t\n"))
    assert not run(side.repository.contains(new))
    assert land(side, new, old.commit) is Move.MOVED
    assert run(side.repository.contains(new))
    assert run(side.repository.contains(old.commit))
    assert run(side.repository.tip()).tree == old.tree


def test_landing_again_counts_as_moved(side: Side) -> None:
    old = tip(side)
    new = side.write({"x": "x\n"}, old)
    assert land(side, new, old) is Move.MOVED
    assert land(side, new, old) is Move.MOVED
    later = side.push({"y": "y\n"})
    assert land(side, new, old) is Move.MOVED
    assert tip(side) == later


def test_a_branch_that_somebody_else_moved_is_stale(side: Side) -> None:
    old = tip(side)
    new = side.write({"x": "x\n"}, old)
    moved = side.push({"y": "y\n"})
    assert land(side, new, old) is Move.STALE
    assert tip(side) == moved
    assert not run(side.repository.contains(new))


def test_an_older_epoch_than_the_fence_is_fenced(side: Side) -> None:
    old = tip(side)
    new = side.write({"x": "x\n"}, old)
    run(side.repository.raise_fence(5))
    assert land(side, new, old, fence=4) is Move.FENCED
    assert tip(side) == old
    assert land(side, new, old, fence=5) is Move.MOVED


def test_fenced_comes_before_everything_else(side: Side) -> None:
    old = tip(side)
    new = side.write({"x": "x\n"}, old)
    run(side.repository.raise_fence(2))
    assert land(side, new, old, fence=2) is Move.MOVED
    run(side.repository.raise_fence(3))
    assert land(side, new, old, fence=2) is Move.FENCED


def test_a_later_epoch_than_the_fence_may_land(side: Side) -> None:
    old = tip(side)
    run(side.repository.raise_fence(5))
    assert land(side, side.write({"x": "x\n"}, old), old, fence=6) is Move.MOVED


def test_the_fence_never_comes_down(side: Side) -> None:
    old = tip(side)
    run(side.repository.raise_fence(5))
    with contextlib.suppress(StaleEpoch):  # a repository may say so, or just stay where it is
        run(side.repository.raise_fence(3))
    assert land(side, side.write({"x": "x\n"}, old), old, fence=4) is Move.FENCED


def test_a_diff_is_about_the_paths_that_were_asked_for(side: Side) -> None:
    old = tip(side)
    new = side.push({"a.txt": "other\n", "src/b.txt": "B\n"})
    whole = run(side.repository.diff(old, new))
    assert "other" in whole
    assert "src/b.txt" in whole
    assert "src/b.txt" not in run(side.repository.diff(old, new, ["a.txt"]))
    assert run(side.repository.diff(old, old)) == ""


def test_the_past_is_what_each_commit_changed_together_and_the_files_of_today(side: Side) -> None:
    first = side.push({"a.txt": "other\n", "src/b.txt": "B\n"})
    second = side.push({"c.txt": "c\n"})
    past = run(side.repository.past())
    assert [(change.commit, change.paths) for change in past.changes[-2:]] == [
        (first, ("a.txt", "src/b.txt")),
        (second, ("c.txt",)),
    ]
    assert {"a.txt", "c.txt", "src/b.txt"} <= past.files


def made_within_a_second(side: Side) -> tuple[Commit, Commit, Commit]:
    """A commit that is not on main, and two on top of main, one after the other, with its time and words."""
    start, message = run(side.repository.tip()), "x\n\nInterlock-Task: x\n"
    top = side.push({"c.txt": "c\n"})
    while True:
        began = int(time.time())
        gone = run(side.repository.commit(start.tree, start.commit, message))
        first = run(side.repository.commit(start.tree, top, message))
        second = run(side.repository.commit(start.tree, first, message))
        if int(time.time()) == began:
            return gone, first, second


def test_a_commit_with_another_message_or_two_with_the_same_are_no_rebased_commit(side: Side) -> None:
    gone, first, second = made_within_a_second(side)
    assert run(side.repository.rewritten([gone, Commit("0" * 40)])) == {}
    for again in (first, second):
        assert land(side, again, tip(side)) is Move.MOVED
    assert run(side.repository.rewritten([gone])) == {}
