"""What undoing commits promises, asked of real git and of the fake the simulation runs on."""

import pytest

from interlock.git.reverting import GitReverts, Reverts
from interlock.model.task import Commit
from tests.git.test_repository_contract import FakeSide, RealSide, Side, side, tip
from tests.git.world import git, run
from tests.sim.fake_git import FakeRepository

pytestmark = pytest.mark.contract
__all__ = ["side"]


def reverts_of(side: Side) -> Reverts:
    if isinstance(side, RealSide):
        return GitReverts(side.world.place)
    assert isinstance(side, FakeSide) and isinstance(side.fake, FakeRepository)
    return side.fake


def test_commits_are_undone_newest_first_and_others_stay(side: Side) -> None:
    start = tip(side)
    one = side.push({"one.txt": "1\n"})
    two = side.push({"one.txt": "2\n"})
    side.push({"other.txt": "o\n"})
    made = run(reverts_of(side).revert(tip(side), [two, one]))
    assert made.touched == ("one.txt",) and made.blocked_at == ""
    merged = run(side.repository.merge(tip(side), made.commit, tip(side)))
    other = side.write({"other.txt": "o\n"}, start)
    assert merged.tree == run(side.repository.merge(start, other, start)).tree


def test_a_commit_whose_lines_changed_later_is_named_with_the_paths(side: Side) -> None:
    one = side.push({"one.txt": "1\n"})
    two = side.push({"one.txt": "2\n"})
    side.push({"other.txt": "o\n"})
    reverts = reverts_of(side)
    made = run(reverts.revert(tip(side), [one]))
    assert (made.commit, made.blocked_at, made.conflicts) == ("", one, ("one.txt",))
    later = run(reverts.line(one, tip(side), made.conflicts))
    assert [each.commit for each in later] == [two]


def test_what_is_not_there_any_more_leaves_nothing_to_undo(side: Side) -> None:
    one = side.push({"one.txt": "1\n"})
    side.push({"one.txt": None})
    assert run(reverts_of(side).revert(tip(side), [])).commit == ""
    made = run(reverts_of(side).revert(tip(side), [one]))
    assert made.commit == ""


def test_the_line_is_listed_oldest_first_with_parents_and_bounded(side: Side) -> None:
    start = tip(side)
    pushed = [side.push({f"{number}.txt": "x\n"}) for number in range(3)]
    reverts = reverts_of(side)
    line = run(reverts.line(start, tip(side)))
    assert [each.commit for each in line] == pushed
    assert [each.parent for each in line] == [start, *pushed[:-1]]
    assert [each.commit for each in run(reverts.line(Commit(""), tip(side), most=2))] == pushed[1:]
    assert run(reverts.at(pushed[0])) == line[0] and run(reverts.at(Commit("e" * 40))) is None
    assert run(reverts.find(pushed[1][:12])) == pushed[1]


def test_a_merge_is_undone_as_a_whole(side: Side) -> None:
    if not isinstance(side, RealSide):
        pytest.skip("the fake has no merges")
    root = side.world.root
    git(root, "switch", "-q", "-c", "side", "main")
    side.world.commit({"one.txt": "1\n"})
    side.world.commit({"two.txt": "2\n"})
    git(root, "switch", "-q", "main")
    side.world.commit({"own.txt": "o\n"})
    git(root, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    merge, before = side.world.main, git(root, "rev-parse", "main^1^{tree}")
    made = run(GitReverts(side.world.place).revert(merge, [merge]))
    assert git(root, "rev-parse", f"{made.commit}^{{tree}}") == before
